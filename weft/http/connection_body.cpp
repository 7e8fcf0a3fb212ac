// How bodies come and go: that of a request whole before its handler is called, or piece by piece
// as the handler takes it; that of a reply framed.
#include <charconv>
#include <cstring>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/http/body_pace.hpp>
#include <weft/http/chunked_decoder.hpp>
#include <weft/http/connection.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/reply_head.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/loop/shared_text.hpp>

namespace weft::http {
namespace {

/// Beside the bytes of a chunk: its size in hexadecimal digits, and two line ends.
constexpr std::size_t around_chunk_bytes = 16 + 2 + 2;

char* put_line_end(char* out) noexcept {
  out[0] = '\r';
  out[1] = '\n';
  return out + 2;
}

char* put_size(char* out, std::size_t size_bytes, body_framing framing) noexcept {
  if (framing != body_framing::chunked) return out;
  return put_line_end(std::to_chars(out, out + around_chunk_bytes, size_bytes, 16).ptr);
}

}  // namespace

task<bool> connection::ask_for_body() {
  const auto asked = co_await stream_.write("HTTP/1.1 100 Continue\r\n\r\n");
  co_return asked.has_value();
}

void connection::leave_slot(active_request& work) {
  input_->bytes.leave_slot();
  work.head.rebase(received().data());
}

// ---- memory for bodies that are gathered whole -------------------------------------------------

bool connection::needs_memory(const active_request& work) const noexcept {
  const std::uint64_t length = work.head.content_length().value_or(0);
  return length > inline_body_bytes &&
         input_->bytes.counted_bytes() < work.head.size_bytes() + length;
}

void connection::keep_memory(active_request& work, memory_reservation memory) {
  const std::size_t missing_bytes = memory.bytes() - received().size();
  input_->bytes.make_room(missing_bytes, std::move(memory));
  work.head.rebase(received().data());
}

bool connection::reserve_now(active_request& work) {
  auto memory = loop_.memory().try_reserve(
      memory_kind::bodies, work.head.size_bytes() + work.body_bytes, memory_priority::low);
  if (memory) keep_memory(work, std::move(memory));
  return input_->bytes.counted_bytes() > work.body_bytes;
}

task<memory_reservation> connection::reserve(std::size_t size_bytes) {
  auto memory = co_await with_timeout(
      memory_wait,
      reserve_memory(loop_.memory(), memory_kind::bodies, size_bytes, memory_priority::low));
  if (memory) co_return std::move(*memory);
  if (memory.error() == errc::limit_exceeded)
    refuse(status::content_too_large, never_memory_reason);
  else
    refuse_for_memory();
  co_return memory_reservation{};
}

/// With the head, which stands before it.
task<bool> connection::reserve(active_request& work) {
  auto memory = co_await reserve(work.head.size_bytes() + *work.head.content_length());
  if (!memory) co_return false;
  keep_memory(work, std::move(memory));
  co_return true;
}

/// As much as may come.
task<bool> connection::reserve_for_chunks(active_request& work) {
  work.note();
  work.memory = co_await reserve(work.bounds->body_bytes);
  if (!work.memory) co_return false;
  work.decoded.reserve(work.bounds->body_bytes);
  co_return true;
}

/// Of whom the rest is small: as a rule those that take nothing are dropped within a moment.
task<bool> connection::wait_for_memory() {
  const auto memory = co_await with_timeout(
      memory_wait, reserve_memory(loop_.memory(), memory_kind::bodies, 1, memory_priority::high));
  if (!memory) refuse_for_memory();
  co_return memory.has_value();
}

task<bool> connection::receive_more(active_request& work, time_point due) {
  set(due);
  leave_slot(work);
  if (loop_.memory().is_short(memory_priority::high)) [[unlikely]] {
    if (!co_await wait_for_memory()) co_return false;
  }
  auto bytes = co_await stream_.read();
  if (!bytes) {
    if (timed_out_)
      refuse(status::request_timeout, "the request's body took too long");
    else if (host_.stopping.stop_requested())
      refuse(status::service_unavailable,
             "this server ends, and the rest of the body has not come");
    keep_ = false;
    co_return false;
  }
  host_.counts.received_bytes.add(bytes->size());
  loop_.note_produced(bytes->size());  // others have their turn within a long body, too
  input_->bytes.append(std::move(*bytes));
  work.head.rebase(received().data());
  co_return true;
}

task<bool> connection::receive_body(active_request& work) {
  const parsed_head& head = work.head;
  if (head.expect_continue() && received().size() == head.size_bytes()) {
    if (!co_await ask_for_body()) {
      keep_ = false;
      co_return false;
    }
  }
  if (head.chunked()) co_return co_await receive_chunked_body(work);
  const body_pace pace{loop_.now(), *work.bounds};
  while (!body_has_come(work)) {
    const std::size_t come = received().size() - head.size_bytes();
    if (!co_await receive_more(work, pace.due(loop_.now(), come))) co_return false;
  }
  co_return true;
}

task<bool> connection::receive_chunked_body(active_request& work) {
  const parsed_head& head = work.head;
  chunked_decoder decoder;
  const body_pace pace{loop_.now(), *work.bounds};
  for (std::uint64_t come = 0;;) {
    const std::string_view fresh = received().substr(head.size_bytes());
    come += fresh.size();
    const chunked_progress progress = decoder.decode(fresh, work.decoded, *work.bounds);
    if (progress.status == chunked_status::complete) {
      work.body_bytes = progress.consumed_bytes;
      break;
    }
    if (progress.status == chunked_status::failed) {
      const protocol_fault why = decoder.fault();
      refuse(why.code, why.reason);
      co_return false;
    }
    // What has been decoded is not kept: chunks of one byte may be wrapped in hundreds.
    input_->bytes.truncate(head.size_bytes());
    if (work.decoded.size() > inline_body_bytes && !work.memory)
      if (!co_await reserve_for_chunks(work)) co_return false;
    if (!co_await receive_more(work, pace.due(loop_.now(), come))) co_return false;
  }
  work.body = work.decoded;
  work.note();
  co_return true;
}

task<result<std::string_view>> connection::receive_body(buffer_ref& slot) {
  auto bytes = co_await stream_.read();
  if (!bytes) co_return fail(bytes.error());
  slot = std::move(*bytes);
  host_.counts.received_bytes.add(slot.size());
  loop_.note_produced(slot.size());
  co_return slot.text();
}

void connection::send_head(const reply_head& head, bool /*ends*/) {
  if (head.most_bytes() <= net::tcp_stream::prepare_most_bytes) {
    char* const begin = stream_.prepare(head.most_bytes()).data();
    stream_.commit(static_cast<std::size_t>(head.write(begin) - begin));
    return;
  }
  std::string text;
  text.resize_and_overwrite(head.most_bytes(), [&](char* begin, std::size_t) noexcept {
    return static_cast<std::size_t>(head.write(begin) - begin);
  });
  stream_.append(std::move(text));
}

void connection::send_reply(const reply_head& head, std::string_view body,
                            const body_memory* memory) {
  send_head(head, body.empty());
  loop_.note_produced(body.size());
  if (body.empty()) return;
  if (memory != nullptr && memory->shared != nullptr)
    stream_.append(*memory->shared);
  else
    stream_.append(memory != nullptr ? std::move(*memory->owned) : std::string{body});
}

/// In one piece with what frames it, if that fits.
void connection::append_body(std::string_view piece, body_framing framing) {
  if (piece.size() + around_chunk_bytes > net::tcp_stream::prepare_most_bytes) {
    append_body(std::string{piece}, framing);
    return;
  }
  char* const begin = stream_.prepare(piece.size() + around_chunk_bytes).data();
  char* end = put_size(begin, piece.size(), framing);
  std::memcpy(end, piece.data(), piece.size());
  end += piece.size();
  if (framing == body_framing::chunked) end = put_line_end(end);
  stream_.commit(static_cast<std::size_t>(end - begin));
}

void connection::append_body(std::string&& piece, body_framing framing) {
  char* const begin = stream_.prepare(around_chunk_bytes).data();
  stream_.commit(static_cast<std::size_t>(put_size(begin, piece.size(), framing) - begin));
  stream_.append(std::move(piece));
  if (framing != body_framing::chunked) return;
  put_line_end(stream_.prepare(2).data());
  stream_.commit(2);
}

void connection::end_body(body_framing framing) {
  if (framing != body_framing::chunked) return;
  constexpr std::string_view last_chunk = "0\r\n\r\n";
  std::memcpy(stream_.prepare(last_chunk.size()).data(), last_chunk.data(), last_chunk.size());
  stream_.commit(last_chunk.size());
}

task<result<void>> connection::drain(bool empty) {
  if (!empty) co_return co_await stream_.drain();
  co_return co_await stream_.flush();
}

std::size_t connection::send_from(const file& from, std::uint64_t offset,
                                  std::size_t size_bytes) noexcept {
  return stream_.send_from(from, offset, size_bytes);
}

task<void> connection::finish_streams(active_request& work) {
  exchange& reply = *work.reply;
  reply.expect_reply();
  if (work.writer && work.writer->is_begun() && !work.writer->is_whole()) {
    log::warning(weft::format("the reply to {} {} ends early, after {} bytes of its body",
                              to_string(work.head.method()), reply.request().path(),
                              work.writer->written_bytes()));
    reply.close_after_reply();
  }
  if (work.reader) {
    bool at_end = work.reader->complete();
    if (!at_end && reply.keep_alive()) at_end = co_await work.reader->drop_rest();
    if (!at_end) {
      reply.close_after_reply();
      refused_ = true;
    }
    work.body_bytes = work.reader->give_back();
  }
  work.reader.reset();
  work.writer.reset();
}

}  // namespace weft::http
