// Accept, Accept-Encoding and Content-Type fields: no crash, and a choice that was offered.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weft/http/content_disposition.hpp>
#include <weft/http/content_type.hpp>
#include <weft/http/negotiation.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weft::http::content_coding;
  const std::string_view field{reinterpret_cast<const char*>(data), size};
  constexpr std::array<std::string_view, 3> offers = {"a/b", "a/c;d=e", "f/g"};
  if (weft::http::choose_media_type(field, offers).value_or(0) >= offers.size()) std::abort();

  constexpr weft::http::coding_set offered{content_coding::gzip, content_coding::br};
  const auto ranked = weft::http::rank_codings(field, offered);
  if (ranked.count == 0) std::abort();
  for (const content_coding each : ranked.all())
    if (each != content_coding::identity && !offered.contains(each)) std::abort();

  std::string room(size, '\0');
  if (const auto type = weft::http::parse_content_type(field)) {
    if (type->type.empty() || type->subtype.empty()) std::abort();
    (void)type->parameter("d", room);
  }
  (void)weft::http::parse_content_disposition(field, room);
  return 0;
}
