#include <weft/http/input_buffer.hpp>

#include <utility>

namespace weft::http {

void input_buffer::append(buffer_ref&& bytes) {
  if (empty()) {
    slot_ = std::move(bytes);
    return;
  }
  if (gathered_.empty()) {
    gathered_.append(slot_.text());
    slot_.reset();
  } else if (used_ > gathered_.size() / 2) {
    // Only when most has been used up, so that a byte is moved at most once for each one received.
    gathered_.erase(0, used_);
    used_ = 0;
  }
  gathered_.append(bytes.text());
  bytes.reset();
}

void input_buffer::consume(std::size_t size_bytes) noexcept {
  if (gathered_.empty()) {
    slot_.remove_prefix(size_bytes);
    if (slot_.empty()) slot_.reset();
    return;
  }
  used_ += size_bytes;
  if (used_ < gathered_.size()) return;
  std::string{}.swap(gathered_);
  used_ = 0;
}

void input_buffer::truncate(std::size_t size_bytes) noexcept {
  if (gathered_.empty())
    slot_.resize(size_bytes);
  else
    gathered_.erase(used_ + size_bytes);
}

}  // namespace weft::http
