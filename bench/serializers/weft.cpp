// weft/json, and under it glaze. The members that C++ has no spelling for get their names here.
#include <weft/json/read.hpp>
#include <weft/json/write.hpp>

#include "measure.hpp"

namespace s = serializers;

template <>
struct glz::meta<s::read_column> {
  static constexpr auto value = object("column", &s::read_column::column, "dataReturnType",
                                       &s::read_column::data_return_type);
};
template <>
struct glz::meta<s::key_read> {
  static constexpr auto value =
      object("filters", &s::key_read::filters, "readColumns", &s::key_read::read_columns,
             "operationId", &s::key_read::operation_id);
};
template <>
struct glz::meta<s::operation> {
  static constexpr auto value = object("method", &s::operation::method, "relative-url",
                                       &s::operation::relative_url, "body", &s::operation::body);
};
template <>
struct glz::meta<s::row> {
  static constexpr auto value = object("operationId", &s::row::operation_id, "data", &s::row::data);
};

namespace {

struct weft_json {
  static constexpr const char* name = "weft (glaze)";
  static constexpr bool writes = true;

  template <class T>
  void write(const T& value, std::string& text) {
    weft::json::write(value, text);
  }

  template <class T>
  bool read(const std::string& text, T& value) {
    auto come = weft::json::read<T>(text);
    if (!come) return false;
    value = std::move(*come);
    return true;
  }
};

}  // namespace

int main(int argc, char** argv) { return s::run<weft_json>(argc, argv); }
