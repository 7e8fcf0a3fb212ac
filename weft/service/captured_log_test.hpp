// What is logged while a test looks.
//
// Contract: one at a time, and nobody else sets the sink meanwhile; on the thread that logs.
//
//   captured_log messages;
//   ...
//   EXPECT_EQ(messages.messages, lines{"..."});
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weft/base/log.hpp>

namespace weft {

class captured_log {
 public:
  captured_log() { log::set_sink(&keep, this); }
  captured_log(const captured_log&) = delete;
  captured_log& operator=(const captured_log&) = delete;
  ~captured_log() { log::set_sink(nullptr, nullptr); }
  std::vector<std::string> messages;

 private:
  static void keep(log::level, std::string_view message, void* self) {
    static_cast<captured_log*>(self)->messages.emplace_back(message);
  }
};

}  // namespace weft
