#include <apps/weftd/row_writer.hpp>

#include <weft/json/read.hpp>
#include <weft/store/json_value.hpp>

#include <apps/weftd/row_text.hpp>

namespace weftd {
namespace {

void append_csv(std::string_view text, std::string& out) {
  const bool is_plain = !text.empty() && text.front() != ' ' && text.back() != ' ' &&
                        text.find_first_of("\",\t\r\n") == std::string_view::npos;
  if (is_plain) {
    out += text;
    return;
  }
  out += '"';
  for (const char each : text) {
    if (each == '"') out += '"';
    out += each;
  }
  out += '"';
}

}  // namespace

void row_writer::begin(std::string& out) const {
  if (format_ != row_format::csv) return;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (i != 0) out += ',';
    append_csv(from_.columns()[columns_[i]].name, out);
  }
  out += '\n';
}

void row_writer::append(std::span<const weft::store::value> values, std::string& out) {
  if (format_ == row_format::jsonl) {
    append_data(from_, columns_, values, out);
    out += '\n';
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += ',';
    json_.clear();
    weft::store::append_json(values[i], from_.columns()[columns_[i]], json_);
    append_field(json_, out);
  }
  out += '\n';
}

void row_writer::append_field(std::string_view json, std::string& out) {
  if (json == "null") return;
  if (!json.starts_with('"')) {
    out += json;
    return;
  }
  if (!json.contains('\\')) return append_csv(json.substr(1, json.size() - 2), out);
  if (weft::json::read_into(decoded_, json)) append_csv(decoded_, out);
}

}  // namespace weftd
