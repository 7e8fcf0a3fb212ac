#include <apps/weftd/row_writer.hpp>

#include <weft/json/read.hpp>
#include <weft/store/json_value.hpp>
#include <weft/store/number_text.hpp>

#include <apps/weftd/row_text.hpp>

namespace weftd {
namespace {

void append_csv(std::string_view text, bool has_quotes, std::string& out) {
  const bool is_plain = !has_quotes && !text.empty() && text.front() != ' ' && text.back() != ' ' &&
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
    append_csv(from_.columns()[columns_[i]].name, false, out);
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
    const weft::store::column& of = from_.columns()[columns_[i]];
    weft::store::append_json(values[i], of, json_);
    append_field(json_, of, out);
  }
  out += '\n';
}

void row_writer::append_field(std::string_view json, const weft::store::column& of,
                              std::string& out) {
  if (json == "null") return;
  if (!json.starts_with('"')) {
    out += json;
    return;
  }
  const std::string_view text = json.substr(1, json.size() - 2);
  // Without quotes it would be a number.
  const bool has_quotes =
      of.type == weft::store::column_type::any && weft::store::is_json_number(text);
  if (!json.contains('\\')) return append_csv(text, has_quotes, out);
  if (weft::json::read_into(decoded_, json)) append_csv(decoded_, has_quotes, out);
}

}  // namespace weftd
