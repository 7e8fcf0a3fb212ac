// What is known of a table: its columns, its primary key, its indexes.
//
// Contract: immutable, and equal to another where a request that was made for the one means the
// same for the other. Columns are named by their position, 16 bits. Names are compared as they are
// written: "Id" is not "id". A table stays where it is as long as its catalog lives, which
// catalog.hpp says. find() allocates nothing. May be read by several threads at once.
//
//   const table* orders = catalog->find("shop", "orders");
//   if (const auto at = orders->find("price")) use(orders->columns()[*at]);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/hash_map.hpp>
#include <weft/store/column_type.hpp>

namespace weft::store {

class catalog;

struct column {
  std::string name;
  column_type type = column_type::text;
  bool is_unsigned = false;
  bool is_nullable = true;
  /// An insert may leave it out, though it is not nullable.
  bool has_default = false;
  /// The engine computes it: it is read, and never written.
  bool is_generated = false;
  /// A generated column that is not stored: each read evaluates its expression.
  bool is_computed_when_read = false;
  /// The engine makes numbers of texts that look like ones, though this is no column of numbers.
  bool makes_numbers = false;
  /// Its order is not that of the texts that its values are told as: ENUM and SET of MySQL.
  bool is_enumerated = false;
  /// Values of any type may be stored in it, whatever the column's type, as in SQLite. Values that
  /// the type cannot express are tagged in JSON (tagged_value.hpp).
  bool is_dynamic = false;
  /// A day or time that is written in full is stored as it is written, and numbers are accepted.
  bool keeps_form = false;
  /// Those of its values that look like numbers.
  std::vector<std::string> numeric_values{};
  /// The character set that keeps its texts, where an engine has several: "latin1".
  std::string charset{};
  /// Characters of CHAR and VARCHAR, bytes of BINARY and VARBINARY, bits of BIT; 0: no bound.
  std::uint32_t length = 0;
  /// Digits of a DECIMAL, and how many of them are behind the point; precision 0: any number.
  std::uint8_t precision = 0;
  std::uint8_t scale = 0;
  /// Of TIME, DATETIME and TIMESTAMP: 0 to 6.
  std::uint8_t fraction_digits = 0;

  friend bool operator==(const column&, const column&) = default;
};

/// Where a column stands in its table.
using column_position = std::uint16_t;

struct secondary_index {
  std::string name;
  std::vector<column_position> columns{};  // in the index's order
  bool is_unique = false;

  friend bool operator==(const secondary_index&, const secondary_index&) = default;
};

struct table_definition {
  std::string database;
  std::string name;
  std::vector<column> columns{};       // in table order
  std::vector<column_position> key{};  // the primary key, in its order; empty: there is none
  std::vector<secondary_index> indexes{};
  /// What keeps it, where a database has several ways to: "InnoDB", "MyISAM".
  std::string storage_engine{};
  /// False: what was done to it cannot be undone, so that no batch is all or nothing there.
  bool has_transactions = true;
  /// Expressions in the engine's SQL that end the order of a scan, so that no two rows are equal in
  /// it: a key may be NULL, or equal to another where the scan's order compares it otherwise.
  std::vector<std::string> tie_breakers{};
  /// False: keys may be NULL, and nothing else tells the rows apart, so that they are not scanned.
  bool has_distinct_rows = true;
  /// Where a scan goes on is kept as it is stored, and not as it is read.
  bool has_stored_places = false;

  friend bool operator==(const table_definition&, const table_definition&) = default;
};

class table {
 public:
  table(const catalog& owner, table_definition definition);
  table(const table&) = delete;
  table& operator=(const table&) = delete;

  /// The catalog it is a part of.
  [[nodiscard]] const catalog& owner() const noexcept { return owner_; }
  [[nodiscard]] const table_definition& definition() const noexcept { return definition_; }
  [[nodiscard]] const std::string& database() const noexcept { return definition_.database; }
  [[nodiscard]] const std::string& name() const noexcept { return definition_.name; }
  [[nodiscard]] std::span<const column> columns() const noexcept { return definition_.columns; }
  [[nodiscard]] std::span<const column_position> key() const noexcept { return definition_.key; }
  [[nodiscard]] std::span<const secondary_index> indexes() const noexcept {
    return definition_.indexes;
  }
  /// All columns that are no part of the key, in table order.
  [[nodiscard]] std::span<const column_position> values() const noexcept { return values_; }

  [[nodiscard]] std::optional<column_position> find(std::string_view column_name) const noexcept;
  /// `,"name":`, which stands before its value in a row that is an object of JSON.
  [[nodiscard]] std::string_view json_name(column_position at) const noexcept {
    return json_names_[at];
  }
  /// Which column of the key it is, from 0.
  [[nodiscard]] std::optional<std::size_t> place_in_key(column_position at) const noexcept;

 private:
  const catalog& owner_;
  table_definition definition_;
  std::vector<column_position> values_;
  std::vector<std::string> json_names_;
  hash_map<std::string_view, column_position> by_name_;  // of a table with many columns
};

}  // namespace weft::store
