// A call's use of a connection, as long as it lasts.
//
// Contract: counts its round trips. Both outlive it.
//
//   const counted_use use{connection, counts};
#pragma once

#include <cstdint>

#include <weft/store/mysql/connection.hpp>
#include <weft/store/mysql/engine_counts.hpp>

namespace weft::store::mysql {

class [[nodiscard]] counted_use {
 public:
  counted_use(connection& of, engine_counts& in) noexcept
      : of_{of}, in_{in}, before_{of.round_trips()} {}
  counted_use(const counted_use&) = delete;
  counted_use& operator=(const counted_use&) = delete;
  ~counted_use() { in_.round_trips.add(of_.round_trips() - before_); }

 private:
  connection& of_;
  engine_counts& in_;
  std::uint64_t before_;
};

}  // namespace weft::store::mysql
