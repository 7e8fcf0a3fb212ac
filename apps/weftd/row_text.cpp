#include <apps/weftd/row_text.hpp>

#include <weft/store/json_value.hpp>

namespace weftd {

namespace store = weft::store;

void append_text(std::string_view text, std::string& out) {
  static const store::column any{.name = {}, .type = store::column_type::text};
  store::append_json(store::value::text(text), any, out);
}

void append_data(const store::table& from, std::span<const store::column_position> columns,
                 std::span<const store::value> values, std::string& out) {
  out += '{';
  for (std::size_t i = 0; i < values.size(); ++i) {
    const store::column& column = from.columns()[columns[i]];
    if (i != 0) out += ',';
    append_text(column.name, out);
    out += ':';
    store::append_json(values[i], column, out);
  }
  out += '}';
}

}  // namespace weftd
