// The fields of a request on their way out, as nghttp2 takes them.
//
// Contract: internal to http. begin() empties it; what is given to add()
// lives until the block has been submitted, and add_lines() writes names in small letters into
// memory of its own. Fields that mean something to a connection of HTTP/1.1 alone are left out (RFC
// 9113 section 8.2.2). Allocates nothing once warm. One shard.
//
//   block.begin(lines.size());
//   block.add(":method", "GET");
//   block.add_lines(lines);                    // "Name: value\r\n", each
//   nghttp2_submit_request(session, nullptr, block.data(), block.size(), body, stream);
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::http::http2 {

class field_block {
 public:
  /// `lines_bytes`: of all that add_lines() will be given.
  void begin(std::size_t lines_bytes);
  /// A name in small letters, which stands in the program.
  void add(std::string_view name, std::string_view value);
  void add_lines(std::string_view lines);

  [[nodiscard]] const nghttp2_nv* data() const noexcept { return fields_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return fields_.size(); }

 private:
  void push(std::string_view name, std::string_view value, unsigned flags);

  std::vector<nghttp2_nv> fields_;
  std::string names_;
};

}  // namespace weft::http::http2
