// What files of the kernel say: a number, or what it was built with.
//
// Contract: nothing here fails; what cannot be read is not there. Any thread. Internal to the
// layer.
//
//   number_in("/proc/sys/kernel/sched_rt_period_us");          // 1'000'000
//   has_option("/proc/config.gz", "CONFIG_RT_GROUP_SCHED=y");  // true
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::realtime {

/// The number that the file begins with. Three system calls, no allocation.
[[nodiscard]] std::optional<std::int64_t> number_in(const char* path) noexcept;

/// The number behind `name`, with which its line begins, below the line that is `heading`. Reads no
/// further; no allocation. Lines beyond 4096 bytes are none.
[[nodiscard]] std::optional<std::int64_t> number_behind(const char* path, std::string_view heading,
                                                        std::string_view name) noexcept;

/// Whether a file of build options, plain or compressed by gzip, has this line, which is not its
/// first. Takes milliseconds; throws std::bad_alloc.
[[nodiscard]] bool has_option(const char* path, std::string_view line);

}  // namespace weft::realtime
