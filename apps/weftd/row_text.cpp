#include <apps/weftd/row_text.hpp>

#include <weft/store/json_value.hpp>

namespace weftd {

namespace store = weft::store;

void append_text(std::string_view text, std::string& out) { store::append_json(text, out); }

void append_data(const store::table& from, std::span<const store::column_position> columns,
                 std::span<const store::value> values, std::string& out) {
  out += '{';
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string_view name = from.json_name(columns[i]);
    out += i == 0 ? name.substr(1) : name;
    store::append_json(values[i], from.columns()[columns[i]], out);
  }
  out += '}';
}

std::size_t data_size_max(const store::table& from, std::span<const store::column_position> columns,
                          std::span<const store::value> values) noexcept {
  std::size_t size = 2;
  for (std::size_t i = 0; i < values.size(); ++i)
    size += from.json_name(columns[i]).size() +
            store::json_size_max(values[i], from.columns()[columns[i]]);
  return size;
}

}  // namespace weftd
