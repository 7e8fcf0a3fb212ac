#include <weft/http/websocket/topic.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/coro/scope.hpp>
#include <weft/http/websocket/prepared_message.hpp>
#include <weft/http/websocket/session.hpp>
#include <weft/http/websocket/utf8_checker.hpp>

namespace weft::http {
namespace {

constexpr std::size_t nowhere = SIZE_MAX;

}  // namespace

subscription::subscription(topic& to, websocket& socket) noexcept
    : topic_{to}, session_{*socket.session_}, behind_at_{nowhere} {
  topic_.all_.push_back(*this);
  ++topic_.count_;
}

subscription::~subscription() {
  in_topic_.unlink();
  --topic_.count_;
  if (behind_at_ != nowhere) topic_.behind_[behind_at_] = nullptr;
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
    if (each.behind_at_ == nowhere && each.session_.has_room(most)) {
      each.session_.append_prepared(prepared);
      ++got;
    } else if (waits) {
      behind_.push_back(&each);
      each.behind_at_ = behind_.size() - 1;
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

/// Those who were not given it in the end have missed it.
class topic::wait_for_slow {
 public:
  explicit wait_for_slow(topic& of) noexcept : topic_{of} {}
  wait_for_slow(const wait_for_slow&) = delete;
  wait_for_slow& operator=(const wait_for_slow&) = delete;
  ~wait_for_slow() {
    for (std::size_t i = 0; i != topic_.behind_.size(); ++i) {
      if (topic_.behind_[i] == nullptr) continue;
      ++topic_.missed_;
      topic_.catch_up(i);
    }
    topic_.behind_.clear();
  }

 private:
  topic& topic_;
};

borrowing_task<result<std::size_t>> topic::publish(websocket_message message) {
  if (options_.policy != slow_reader::wait) co_return give_out(message, false);
  const auto locked = co_await publishing_.lock();
  if (!locked) co_return fail(locked.error());
  const wait_for_slow until_the_end{*this};
  auto got = give_out(message, true);
  if (!got || behind_.empty()) co_return got;
  scope waiting{co_await this_task::environment(), failure_policy::collect};
  result<void> how;
  for (std::size_t i = 0; i != behind_.size(); ++i) waiting.spawn(wait_for(i, message, *got, how));
  co_await waiting.join();
  if (!how) co_return fail(how.error());
  co_return got;
}

task<void> topic::wait_for(std::size_t place, websocket_message message, std::size_t& got,
                           result<void>& how) {
  if (behind_[place] == nullptr) co_return;  // has gone before this has begun
  const auto sent = co_await behind_[place]->session_.send_later(message);
  if (sent) ++got;
  // Those of this task, which has waited for too long; a WebSocket that has ended says otherwise.
  const bool gives_up =
      !sent && (sent.error() == errc::cancelled || sent.error() == errc::timed_out);
  if (gives_up)
    how = sent;
  else
    catch_up(place);
}

void topic::catch_up(std::size_t place) noexcept {
  if (subscription* const who = std::exchange(behind_[place], nullptr)) who->behind_at_ = nowhere;
}

}  // namespace weft::http
