#include <weft/http/input_buffer.hpp>

#include <utility>

namespace weft::http {
namespace {

/// Requests that have come in one piece, as nearly all have, are not to pay for the others.
[[gnu::noinline]] void drop(std::unique_ptr<std::string>& text, memory_reservation& counted) {
  text.reset();
  counted.reset();
}

}  // namespace

void input_buffer::append(buffer_ref&& bytes) {
  if (!text_.empty()) {
    gather(std::move(bytes));
    return;
  }
  slot_ = std::move(bytes);
  text_ = slot_.text();
}

void input_buffer::leave_slot(std::size_t room_bytes) {
  if (!slot_) return;
  gathered_ = std::make_unique<std::string>();
  gathered_->reserve(text_.size() + room_bytes);
  text_ = gathered_->assign(text_);
  memory_ = slot_.memory();
  slot_.reset();
  count();
}

void input_buffer::make_room(std::size_t size_bytes, memory_reservation memory) {
  counted_ = std::move(memory);
  leave_slot(size_bytes);
  if (gathered_ == nullptr) return;
  const std::size_t used = gathered_->size() - text_.size();
  gathered_->reserve(gathered_->size() + size_bytes);
  text_ = std::string_view{*gathered_}.substr(used);
}

/// What was reserved covers what it was reserved for, and what a string adds to that.
void input_buffer::count() noexcept {
  constexpr std::size_t rounding_bytes = 64;
  if (memory_ == nullptr || counted_.bytes() + rounding_bytes >= gathered_->capacity()) return;
  counted_.reset();
  counted_ = memory_->hold(memory_kind::requests, gathered_->capacity());
}

void input_buffer::gather(buffer_ref&& bytes) {
  leave_slot(bytes.size());
  std::size_t used = gathered_->size() - text_.size();
  if (used > text_.size()) {
    // Only when most has been used up, so that a byte is moved at most once for each one received.
    gathered_->erase(0, used);
    used = 0;
  }
  const std::size_t before = gathered_->capacity();
  gathered_->append(bytes.text());
  if (gathered_->capacity() != before) count();
  text_ = std::string_view{*gathered_}.substr(used);
  bytes.reset();
}

void input_buffer::consume(std::size_t size_bytes) noexcept {
  text_.remove_prefix(size_bytes);
  if (!text_.empty()) return;
  slot_.reset();
  if (gathered_ != nullptr) [[unlikely]]
    drop(gathered_, counted_);
}

void input_buffer::truncate(std::size_t size_bytes) noexcept {
  if (size_bytes == 0) {
    consume(text_.size());
    return;
  }
  const std::size_t dropped = text_.size() - size_bytes;
  text_.remove_suffix(dropped);
  if (gathered_ != nullptr) gathered_->resize(gathered_->size() - dropped);
}

}  // namespace weft::http
