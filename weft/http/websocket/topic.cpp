#include <weft/http/websocket/topic.hpp>

#include <algorithm>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/http/websocket/prepared_message.hpp>
#include <weft/http/websocket/session.hpp>
#include <weft/http/websocket/utf8_checker.hpp>

namespace weft::http {

subscription::subscription(topic& to, websocket& socket) noexcept
    : topic_{to}, session_{*socket.session_} {
  topic_.all_.push_back(*this);
  ++topic_.count_;
}

subscription::~subscription() {
  in_topic_.unlink();
  --topic_.count_;
  if (topic_.awaited_ == this) topic_.awaited_ = nullptr;
}

topic::~topic() { WEFT_ASSERT(all_.empty(), "a topic ends after its subscriptions"); }

/// Whoever is slow is left behind, or closed.
result<std::size_t> topic::give_out(const websocket_message& message, bool waits) {
  if (message.is_text() && !ws::is_utf8(message.data)) return fail(errc::invalid_argument);
  ws::prepared_message prepared{message};
  std::size_t got = 0;
  const bool waits_here = options_.policy == slow_reader::wait;
  const std::size_t most = waits_here
                               ? std::min(options_.queued_bytes, net::tcp_stream::high_watermark)
                               : options_.queued_bytes;
  for (subscription& each : all_) {
    if (!each.session_.is_open()) continue;
    if (!each.is_behind_ && each.session_.has_room(most)) {
      each.session_.append_prepared(prepared);
      ++got;
    } else if (waits) {
      each.is_behind_ = true;
    } else {
      ++missed_;
      if (options_.policy == slow_reader::close)
        each.session_.start_close(close_code::try_again_later, "too slow");
    }
  }
  return got;
}

result<std::size_t> topic::publish_now(const websocket_message& message) {
  return give_out(message, false);
}

task<result<std::size_t>> topic::publish(websocket_message message) {
  if (options_.policy != slow_reader::wait) co_return give_out(message, false);
  const auto locked = co_await publishing_.lock();
  if (!locked) co_return fail(locked.error());
  auto got = give_out(message, true);
  if (!got) co_return got;
  while ((awaited_ = next_behind()) != nullptr) {
    const auto sent = co_await awaited_->session_.send_later(message);
    if (awaited_ != nullptr) awaited_->is_behind_ = false;
    if (sent) {
      ++*got;
    } else if (sent.error() == errc::cancelled || sent.error() == errc::timed_out) {
      ++missed_;
      leave_behind();
      co_return fail(sent.error());
    }
  }
  co_return got;
}

subscription* topic::next_behind() noexcept {
  for (subscription& each : all_)
    if (each.is_behind_) return &each;
  return nullptr;
}

void topic::leave_behind() noexcept {
  awaited_ = nullptr;
  for (subscription& each : all_) missed_ += std::exchange(each.is_behind_, false) ? 1 : 0;
}

}  // namespace weft::http
