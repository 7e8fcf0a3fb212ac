// A form in parts, however it is cut: no crash, always the same events, never more content than
// came, and never more parts or kept bytes than the limits. The first bytes of the input choose
// boundary and cuts, the rest is the body.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <weft/http/multipart_parser.hpp>
#include <weft/http/safe_file_name.hpp>

namespace {

using weft::http::multipart_event;

constexpr weft::http::multipart_limits bounds{.parts = 5, .header_bytes = 128};

void check_file_name(std::string_view proposed) {
  std::array<char, weft::http::file_name_bytes_max> room;
  const std::string_view name = weft::http::safe_file_name(proposed, room);
  if (name.empty() || name == "." || name == ".." || name.size() > room.size() ||
      name.find_first_of(std::string_view{"/\\\0\r\n", 5}) != name.npos)
    std::abort();
}

// The events as text; each piece lies in memory that ends where it ends.
std::string describe(std::string_view boundary, std::string_view body, std::size_t piece_bytes) {
  weft::http::multipart_parser form{boundary, bounds};
  std::string text;
  std::size_t parts = 0;
  std::size_t content = 0;
  for (std::size_t at = 0; at < body.size(); at += piece_bytes) {
    const std::string_view piece = body.substr(at, piece_bytes);
    const auto copy = std::make_unique_for_overwrite<char[]>(piece.size());
    piece.copy(copy.get(), piece.size());
    for (std::string_view input{copy.get(), piece.size()}; !input.empty();) {
      const multipart_event event = form.next(input);
      if (event == multipart_event::part) {
        if (++parts > bounds.parts) std::abort();
        text.append("<").append(form.part().name).append("|").append(form.part().content_type);
        text.append(form.part().filename ? "|" : "-").append(form.part().filename.value_or(""));
        check_file_name(form.part().filename.value_or(""));
      } else if (event == multipart_event::data) {
        content += form.data().size();
        text.append(form.data());
      } else if (event == multipart_event::part_end) {
        text.append("$");
      } else if (event == multipart_event::failed) {
        return text.append(form.fault().reason);
      }
    }
  }
  if (content > body.size()) std::abort();
  return text.append(form.is_finished() ? "." : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t choices = 2;
  if (size < choices) return 0;
  const std::string_view boundary = data[0] % 2 == 0 ? "B" : "-BB-B";
  const std::string_view body{reinterpret_cast<const char*>(data) + choices, size - choices};
  const std::string whole = describe(boundary, body, body.size() + 1);
  if (describe(boundary, body, 1) != whole) std::abort();
  if (describe(boundary, body, 1 + data[1]) != whole) std::abort();
  std::string room(body.size(), '\0');
  (void)weft::http::form_data_boundary(body, room);
  return 0;
}
