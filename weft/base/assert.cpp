#include <weft/base/assert.hpp>

#include <weft/base/failure_note.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace weft::detail {

namespace {

// A line on the stack: the heap may be what is broken. Cuts what does not fit.
class fixed_line {
 public:
  fixed_line& operator<<(std::string_view text) noexcept {
    const std::size_t length = std::min(text.size(), bytes_.size() - size_);
    std::memcpy(bytes_.data() + size_, text.data(), length);
    size_ += length;
    return *this;
  }

  fixed_line& operator<<(int number) noexcept {
    std::array<char, 12> digits{};
    std::size_t first = digits.size();
    do {
      digits[--first] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    return *this << std::string_view(digits.data() + first, digits.size() - first);
  }

  [[nodiscard]] std::string_view text() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<char, 1024> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace

void assertion_failed(const char* file, int line, const char* condition,
                      const char* message) noexcept {
  fixed_line out;
  out << file << ":" << line << ": assertion failed: " << condition << ": " << message << "\n";
  if (const char* const note = failure_note(); note != nullptr) out << note << "\n";
  // Nothing is left to do should this fail: abort() says the rest.
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, out.text().data(), out.text().size());
  std::abort();
}

}  // namespace weft::detail
