// The statements that look-ups and writes by key are, as MySQL's servers take them.
//
// Contract: names are quoted, and tables come with their databases; all values are parameters, the
// keys' in their columns' order, and so are those that are set. A key with a DECIMAL is compared as
// that, and not as the floating point number that its text would be.
//
//   auto find = co_await server.prepared(select_by_keys(*orders, columns, 8));
//   auto set = co_await server.prepared(write_row(operation, write_kind::update));
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <weft/store/engine.hpp>

namespace weft::store::mysql {

void append_name(std::string_view name, std::string& out);
/// `shop`.`orders`
void append_table(const table& of, std::string& out);
/// A question mark, as what its value is to be compared with in a column.
void append_parameter(const column& of, std::string& out);

/// Whether two keys that are spelled differently may be the same to the server.
[[nodiscard]] bool has_text_in_key(const table& of) noexcept;

/// The columns of the key and those wanted, of the rows of `keys` keys, in no order. Keys of
/// several columns, one of them a text, are compared column by column: MariaDB finds no row by
/// (a,b) IN((?,?),(?,?)) where the text's charset is not that of the connection.
[[nodiscard]] std::string select_by_keys(const table& from,
                                         std::span<const column_position> columns,
                                         std::size_t keys);

/// The number of the key, from 0, and the columns wanted. Takes several times as long, and says
/// which key has found a row where the server alone knows which texts are equal.
[[nodiscard]] std::string select_by_numbered_keys(const table& from,
                                                  std::span<const column_position> columns,
                                                  std::size_t keys);

/// Asks for what the charsets of the key's columns make of texts, one for each that has a charset,
/// of which there is one at least.
[[nodiscard]] std::string convert_keys(const table& of);

/// An INSERT takes the key and then what is set, an UPDATE the other way round, a DELETE the key.
/// `as`: not write_kind::upsert.
[[nodiscard]] std::string write_row(const key_write& operation, write_kind as);

/// An INSERT of so many rows, each as write_row() has one.
[[nodiscard]] std::string insert_rows(const key_write& first, std::size_t rows);

}  // namespace weft::store::mysql
