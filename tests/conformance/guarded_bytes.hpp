// Bytes that end where memory begins that may not be read.
//
// Contract: a copy, for tests that ask whether a parser reads beyond what it was given: whoever
// does ends the program. Throws std::runtime_error where the system has no memory.
//
//   parse(guarded_bytes{text}.text());
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace weft::http {

class guarded_bytes {
 public:
  explicit guarded_bytes(std::string_view bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t readable = (bytes.size() / page + 1) * page;
    size_ = readable + page;
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    memory_ = static_cast<char*>(memory);
    mprotect(memory_ + readable, page, PROT_NONE);
    char* const begin = memory_ + readable - bytes.size();
    bytes.copy(begin, bytes.size());
    text_ = {begin, bytes.size()};
  }
  guarded_bytes(const guarded_bytes&) = delete;
  guarded_bytes& operator=(const guarded_bytes&) = delete;
  ~guarded_bytes() { munmap(memory_, size_); }
  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  char* memory_;
  std::size_t size_;
  std::string_view text_;
};

}  // namespace weft::http
