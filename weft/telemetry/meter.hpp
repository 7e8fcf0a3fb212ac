// One shard's way to its instruments.
//
// Contract: the same kind, name and labels give the same instrument, so a service that is made anew
// counts on. Names are [a-zA-Z_:][a-zA-Z0-9_:]* and end in their unit, a counter's in "_total". To
// get an instrument takes a lock and may allocate: do it in a constructor, not per request. The
// shard's thread alone. What is wrong with a name, or too much, is refused as registry.hpp says.
//
//   struct ping_api {
//     explicit ping_api(telemetry::meter& meter)
//         : pings_{meter.counter("pings_total", "Pings answered", {{"kind", "warm"}})} {}
//     telemetry::counter pings_;
//   };
#pragma once

#include <initializer_list>
#include <string_view>

#include <weft/telemetry/instruments.hpp>
#include <weft/telemetry/snapshot.hpp>

namespace weft::telemetry {

namespace detail {
class catalogue;
}

class meter {
 public:
  meter(const meter&) = delete;
  meter& operator=(const meter&) = delete;

  [[nodiscard]] telemetry::counter counter(std::string_view name, std::string_view help,
                                           std::initializer_list<label> labels = {});
  [[nodiscard]] telemetry::gauge gauge(std::string_view name, std::string_view help,
                                       std::initializer_list<label> labels = {});
  [[nodiscard]] telemetry::histogram histogram(std::string_view name, std::string_view help,
                                               std::initializer_list<label> labels = {});

 private:
  friend class detail::catalogue;
  meter(detail::catalogue& all, unsigned shard) noexcept : all_{all}, shard_{shard} {}

  detail::catalogue& all_;
  unsigned shard_;
};

}  // namespace weft::telemetry
