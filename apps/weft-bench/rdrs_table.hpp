// The rows that a batch of reads finds, in memory, and the RonDB REST server's answer with them.
//
// Contract: rows have the key (id0, id1), each 0 to 99, and hold col0 = 100 * id0 + id1 and
// col1 = "value " and that number. A filter's value is the digits of an integer. What is not
// there, or cannot be, has the code 404 or 400 and no data. Plain C++20; never changes once made.
//
//   static const rdrs::table rows;
//   rows.append_answer(batch, reply);  // {"result":[{"code":200,"body":{"operationId":"1",...}}]}
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "rdrs_documents.hpp"

namespace rdrs {

/// As a string of JSON. `text` is UTF-8.
inline void append_text(std::string_view text, std::string& out) {
  constexpr std::string_view hexadecimal = "0123456789abcdef";
  out += '"';
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= ' ' && c != '"' && c != '\\') continue;
    out.append(text.substr(done, i - done));
    done = i + 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i];
    } else {
      out += "\\u00";
      out += hexadecimal[c >> 4U];
      out += hexadecimal[c & 15U];
    }
  }
  out.append(text.substr(done));
  out += '"';
}

class table {
 public:
  static constexpr std::int64_t values = 100;  // of each column of the key

  table() {
    rows_.reserve(values * values);
    for (std::int64_t key = 0; key < values * values; ++key)
      rows_.emplace(key, row{key, "value " + std::to_string(key)});
  }

  void append_answer(const batch& asked, std::string& reply) const {
    reply += R"({"result":[)";
    for (const operation& each : asked.operations) {
      if (&each != asked.operations.data()) reply += ',';
      append_result(each.body, reply);
    }
    reply += "]}";
  }

 private:
  struct row {
    std::int64_t col0;
    std::string col1;
  };
  struct found {
    int code;
    const row* what;
  };

  [[nodiscard]] static std::optional<std::int64_t> value_of(const key_read& read,
                                                            std::string_view column) noexcept {
    for (const filter& each : read.filters) {
      if (each.column != column) continue;
      std::int64_t number = 0;
      const char* const end = each.value.data() + each.value.size();
      const auto done = std::from_chars(each.value.data(), end, number);
      if (done.ec == std::errc{} && done.ptr == end && number >= 0 && number < values)
        return number;
    }
    return std::nullopt;
  }

  [[nodiscard]] found find(const key_read& read) const noexcept {
    const auto id0 = value_of(read, "id0");
    const auto id1 = value_of(read, "id1");
    if (!id0 || !id1 || read.filters.size() != 2) return {400, nullptr};
    for (const read_column& each : read.readColumns)
      if (each.column != "col0" && each.column != "col1") return {400, nullptr};
    const auto at = rows_.find(*id0 * values + *id1);
    if (at == rows_.end()) return {404, nullptr};
    return {200, &at->second};
  }

  static void append_number(std::int64_t number, std::string& reply) {
    char digits[20];
    reply.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }

  void append_result(const key_read& read, std::string& reply) const {
    const auto [code, what] = find(read);
    reply += R"({"code":)";
    append_number(code, reply);
    reply += R"(,"body":{"operationId":)";
    append_text(read.operationId, reply);
    reply += R"(,"data":{)";
    if (what != nullptr) append_columns(read, *what, reply);
    reply += "}}}";
  }

  static void append_columns(const key_read& read, const row& what, std::string& reply) {
    for (const read_column& each : read.readColumns) {
      if (&each != read.readColumns.data()) reply += ',';
      append_text(each.column, reply);
      reply += ':';
      if (each.column == "col0")
        append_number(what.col0, reply);
      else
        append_text(what.col1, reply);
    }
  }

  std::unordered_map<std::int64_t, row> rows_;
};

}  // namespace rdrs
