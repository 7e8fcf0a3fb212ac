// Memory for the bodies that streams of HTTP/2 gather.
//
// What a client sends into the window that it has from the start cannot be refused before it comes.
// So that is counted while a stream waits for the memory of its body, and neither the stream's
// window nor the connection's is given back until then.
#include <exception>
#include <new>
#include <utility>

#include <weft/http/active_request.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/http2/server_session.hpp>
#include <weft/http/http2/server_stream.hpp>
#include <weft/loop/memory_share.hpp>

namespace weft::http::http2 {

void server_stream::begin_gathering() {
  if (loop_.memory().is_short(memory_priority::high)) [[unlikely]]
    return refuse_for_memory();
  gathers_ = true;
  const std::uint64_t length = still_to_come_.value_or(0);
  if (length > inline_body_bytes)
    reserve_memory(length);
  else
    go_on_gathering();
}

void server_stream::go_on_gathering() {
  pace_.emplace(loop_.now(), *work_->bounds);
  set(pace_->due(loop_.now(), gathered_));
  if (gathered_ == 0 && work_->head.expect_continue()) session_.send_continue(*this);
}

bool server_stream::has_memory_for(std::string_view data) {
  active_request& work = *work_;
  if (work.memory) return true;
  // Of unknown length: as much as may come.
  if (!waits_for_memory_ && gathered_ + data.size() > inline_body_bytes)
    reserve_memory(work.bounds->body_bytes);
  if (!gathers_) return false;
  if (work.memory) return true;
  held_.grow(data.size());
  if (!loop_.memory().is_short(memory_priority::high)) [[likely]]
    return true;
  refuse_for_memory();
  return false;
}

void server_stream::reserve_memory(std::size_t size_bytes) {
  memory_share& all = loop_.memory();
  if (!all.may_ever_have(size_bytes, memory_priority::low))
    return refuse(status::content_too_large, never_memory_reason);
  if (auto memory = all.try_reserve(memory_kind::bodies, size_bytes, memory_priority::low))
    return take_memory(std::move(memory));
  task<void> waiting = wait_for_memory(size_bytes);
  waits_for_memory_ = is_worked_for_ = true;
  set(time_point::max());  // it is not the client that is slow
  host_.workers.spawn(std::move(waiting));
}

task<void> server_stream::wait_for_memory(std::size_t size_bytes) {
  stop_source stop{host_.stopping};
  stop_ = &stop;
  if (is_closed_) stop.request_stop();
  const environment patience{.stop = stop.token(),
                             .until = deadline::at(loop_.now() + memory_wait),
                             .runs_on = &loop_,
                             .owner = host_.owner};
  result<memory_reservation> memory = fail(errc::exhausted);
  try {
    memory = co_await weft::reserve_memory(loop_.memory(), memory_kind::bodies, size_bytes,
                                           memory_priority::low)
                 .in(patience);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
    // Then there is none for a body either.
  }
  stop_ = nullptr;
  waits_for_memory_ = is_worked_for_ = false;
  session_.flush_later();
  if (is_closed_) {
    delete this;
    co_return;
  }
  if (!gathers_) co_return;  // it has been refused meanwhile
  try {
    if (memory)
      take_memory(std::move(*memory));
    else
      refuse_for_memory();
  } catch (const std::exception&) {
    reset(NGHTTP2_INTERNAL_ERROR);
  }
}

void server_stream::take_memory(memory_reservation memory) {
  active_request& work = *work_;
  work.note();
  work.memory = std::move(memory);
  if (work.head.content_length().value_or(0) == 0) work.decoded.reserve(work.bounds->body_bytes);
  go_on_gathering();
  if (owed_ != 0) session_.consume_connection(std::exchange(owed_, 0));
  if (session_.may_gather(*this)) release_window();
  if (in_ended_) finish_gathering();
}

void server_stream::refuse_for_memory() {
  refuse(status::service_unavailable, no_memory_reason, retry_after_field);
}

}  // namespace weft::http::http2
