// A control group of version 1 that the calling thread is in while this lives, with no time for
// realtime threads in periods of 250 ms. Of tests; needs root and such a hierarchy.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include <weft/realtime/cpu_group.hpp>

namespace weft::realtime {

class own_cpu_group {
 public:
  own_cpu_group() : outer_{cpu_group_folder().value_or("")} {
    is_made_ = !outer_.empty() && ::mkdir(folder_.c_str(), 0755) == 0;
    is_there_ = is_made_ && put(folder_ + "/cpu.rt_period_us", "250000") &&
                put(folder_ + "/tasks", this_thread);
  }
  own_cpu_group(const own_cpu_group&) = delete;
  own_cpu_group& operator=(const own_cpu_group&) = delete;
  ~own_cpu_group() {
    if (is_there_) put(outer_ + "/tasks", this_thread);
    if (is_made_) ::rmdir(folder_.c_str());
  }

  [[nodiscard]] bool is_there() const noexcept { return is_there_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

 private:
  static constexpr const char* this_thread = "0";

  static bool put(const std::string& path, const char* text) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const auto size = std::string_view{text}.size();
    const bool is_written = ::write(file, text, size) == static_cast<ssize_t>(size);
    ::close(file);
    return is_written;
  }

  std::string outer_;
  std::string folder_ = outer_ + "/weft_test_" + std::to_string(::getpid());
  bool is_made_ = false;
  bool is_there_ = false;
};

}  // namespace weft::realtime
