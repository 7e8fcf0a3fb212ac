// JSON text whose shape no struct has: written piece by piece.
//
// Problem: documents about types have as many members as those do; write.hpp wants a struct.
// Contract: appends to a string that outlives it, compactly, with the commas where they belong.
// Whoever calls sees to it that objects and lists end, and that names stand in objects alone.
// Strings are UTF-8. Single thread.
//
//   json::composer out{text};
//   out.open_object().name("ids").open_list().number(1).number(2).close_list().close_object();
//   // {"ids":[1,2]}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::json {

class composer {
 public:
  explicit composer(std::string& out) noexcept : out_{out} {}

  composer& open_object() { return open('{'); }
  composer& close_object() { return close('}'); }
  composer& open_list() { return open('['); }
  composer& close_list() { return close(']'); }
  /// Of the value that comes next.
  composer& name(std::string_view text);

  composer& text(std::string_view value);
  composer& number(std::int64_t value);
  composer& number(std::uint64_t value);
  composer& real(double value);
  composer& boolean(bool value) { return raw(value ? "true" : "false"); }
  /// A value that is JSON already.
  composer& raw(std::string_view value);

  /// A member of the object that is open.
  composer& member(std::string_view called, std::string_view value) {
    return name(called).text(value);
  }

 private:
  composer& open(char bracket);
  composer& close(char bracket);
  void separate();

  std::string& out_;
  bool needs_comma_ = false;
};

}  // namespace weft::json
