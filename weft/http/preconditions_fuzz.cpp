// Dates, tags and the fields of a request that hold them: no crash, and what is read of a date can
// be written and read again.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <weft/http/date.hpp>
#include <weft/http/http_date.hpp>
#include <weft/http/preconditions.hpp>
#include <weft/http/request_parser.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft::http;
  constexpr std::int64_t now = 1'800'000'000;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto seconds = parse_http_date(text, now)) {
    const auto written = format_date(*seconds);
    if (parse_http_date({written.data(), written.size()}, now) != seconds) std::abort();
  }
  for (std::string_view list = text; !list.empty();) {
    std::optional<entity_tag> tag;
    const std::size_t before = list.size();
    if (!take_entity_tag(list, tag) || !tag) break;
    if (list.size() >= before) std::abort();
  }
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n" + std::string{text};
  const auto head = std::make_unique<parsed_head>();
  request_parser parser;
  if (parser.parse(request, *head, limits{}) != parse_status::complete) return 0;
  const representation current{.tag = entity_tag{.opaque = "a"}, .modified = 784111777};
  if (check_preconditions(method::put, head->headers(), current, now) == precondition::not_modified)
    std::abort();
  (void)check_preconditions(method::get, head->headers(), current, now);
  (void)if_range_holds(head->headers(), current, now);
  return 0;
}
