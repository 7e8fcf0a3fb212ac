// Names for the columns of a result, no two alike.
//
// Problem: an object in JSON has each name once, and a query may call a thousand columns the same,
// by names as long as its text. Contract: as SQLite does it in subqueries, the second "id" is
// "id:1"; of a name 256 bytes are kept. The time is linear in what is added.
//
//   distinct_names names;
//   made.name = names.add("id");
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <weft/base/hash_map.hpp>

namespace weft::store {

class distinct_names {
 public:
  static constexpr std::size_t name_bytes_max = 256;

  [[nodiscard]] std::string add(std::string_view wanted);

 private:
  hash_map<std::string, int> numbers_;  // the last one that was put behind a name
};

}  // namespace weft::store
