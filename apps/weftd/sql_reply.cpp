#include <apps/weftd/sql_reply.hpp>

#include <algorithm>
#include <utility>

#include <apps/weftd/row_text.hpp>
#include <weft/base/format.hpp>
#include <weft/base/utf8.hpp>
#include <weft/json/read.hpp>
#include <weft/store/engine.hpp>
#include <weft/store/json_value.hpp>
#include <weft/store/value_copy.hpp>

namespace weftd {
namespace {

namespace store = weft::store;

constexpr std::uint32_t beyond_utf16 = 0x10000;

/// Of the character of `size` bytes that `text` begins with.
std::uint32_t code_point(std::string_view text, std::size_t size) noexcept {
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::uint32_t made = at(0) & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) made = (made << 6U) | (at(i) & 0x3fU);
  return made;
}

void append_escape(std::uint32_t unit, std::string& out) { out += weft::format("\\u{:04x}", unit); }

void append_escaped_text(std::string_view text, std::string& out) {
  for (const char each : text) {
    switch (each) {
      case '\t': out += "\\t"; break;
      case '\n': out += "\\n"; break;
      case '\0': out += "\\0"; break;
      case '\\': out += "\\\\"; break;
      default: out += each; break;
    }
  }
}

}  // namespace

void append_ascii(std::string_view json, std::string& out) {
  while (!json.empty()) {
    const std::size_t size = weft::utf8_size(json);
    if (size < 2) {
      out += json.front();
    } else if (const std::uint32_t code = code_point(json, size); code < beyond_utf16) {
      append_escape(code, out);
    } else {
      append_escape(0xd800 + ((code - beyond_utf16) >> 10U), out);
      append_escape(0xdc00 + ((code - beyond_utf16) & 0x3ffU), out);
    }
    json.remove_prefix(std::max<std::size_t>(size, 1));
  }
}

void sql_reply::columns(std::span<const store::column> given) {
  columns_ = given;
  for (const store::column& each : given) {
    std::string& name = names_.emplace_back();
    json_.clear();
    append_text(each.name, json_);
    if (!is_json())
      append_escaped_text(each.name, name);
    else if (form_.is_ascii)
      append_ascii(json_, name);
    else
      name = json_;
  }
  if (!is_json()) return;
  if (form_.tells_names) append_names();
  reply_ += R"("data":[)";
}

void sql_reply::append_names() {
  reply_ += R"("columns":[)";
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (i != 0) reply_ += ',';
    reply_ += names_[i];
  }
  reply_ += "],";
}

void sql_reply::begin_row() {
  if (is_json()) {
    reply_ += rows_ == 0 ? "{" : ",{";
  } else if (rows_ == 0 && form_.tells_names) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (i != 0) reply_ += '\t';
      reply_ += names_[i];
    }
    reply_ += '\n';
  }
}

bool sql_reply::row(std::span<const store::value> values) {
  return store::bytes_of(values) > store::long_row_bytes ? long_row(values, {}) : append(values);
}

bool sql_reply::append(std::span<const store::value> values) {
  const std::size_t before = reply_.size();
  begin_row();
  for (std::size_t i = 0; i < values.size(); ++i) {
    append_value(i, values[i]);
    if (memory_.reply_bytes() > bytes_max_) return leave_out_row(before);
  }
  reply_ += is_json() ? '}' : '\n';
  ++rows_;
  if (!memory_.has_room()) failure_ = memory_.why_no_room();
  return !failure_ && memory_.reply_bytes() < bytes_max_;
}

bool sql_reply::long_row(std::span<const store::value> values, weft::memory_reservation memory) {
  // No value is shorter as JSON.
  if (memory_.reply_bytes() + store::bytes_of(values) - values.size_bytes() > bytes_max_)
    return leave_out_row(reply_.size());
  if (memory_.make_room(row_size_max(values), std::move(memory))) return append(values);
  failure_ = memory_.why_no_room();
  return false;
}

std::size_t sql_reply::row_size_max(std::span<const store::value> values) const noexcept {
  std::size_t json = row_head_max;
  for (std::size_t i = 0; i < values.size(); ++i)
    json += names_[i].size() + store::json_size_max(values[i], columns_[i]);
  // Other forms are made of JSON, and a character that is escaped has up to three times its bytes.
  const bool is_made_of_json = !is_json() || form_.is_ascii;
  return is_made_of_json ? 4 * json : json;
}

void sql_reply::append_value(std::size_t at, const store::value& content) {
  if (at != 0) reply_ += is_json() ? ',' : '\t';
  if (is_json()) {
    reply_ += names_[at];
    reply_ += ':';
    if (!form_.is_ascii) return store::append_json(content, columns_[at], reply_);
  }
  json_.clear();
  store::append_json(content, columns_[at], json_);
  if (is_json())
    append_ascii(json_, reply_);
  else
    append_field(json_);
}

void sql_reply::append_field(std::string_view json) {
  if (json == "null") {
    reply_ += "NULL";
  } else if (!json.starts_with('"')) {
    reply_ += json;
  } else if (!json.contains('\\')) {
    append_escaped_text(json.substr(1, json.size() - 2), reply_);
  } else if (weft::json::read_into(decoded_, json)) {
    append_escaped_text(decoded_, reply_);
  }
}

/// False.
bool sql_reply::leave_out_row(std::size_t before) {
  reply_.resize(before);
  is_cut_ = true;
  if (rows_ == 0)
    failure_ = {weft::http::status::content_too_large,
                weft::format("a row of the reply has more than {} bytes: ask for fewer columns, or "
                             "for parts of them",
                             bytes_max_)};
  return false;
}

void sql_reply::failed(const store::failure& why) {
  failure_ = fault_of(why);
  of_query_ = why.of_query;
}

}  // namespace weftd
