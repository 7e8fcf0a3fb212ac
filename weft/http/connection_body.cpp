// How the body of a request comes: whole before its handler is called, or piece by piece as the
// handler takes it.
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/http/body_pace.hpp>
#include <weft/http/chunked_decoder.hpp>
#include <weft/http/connection.hpp>
#include <weft/http/connection_host.hpp>

namespace weft::http {

task<bool> connection::ask_for_body() {
  const auto asked = co_await stream_.write("HTTP/1.1 100 Continue\r\n\r\n");
  co_return asked.has_value();
}

void connection::leave_slot(active_request& work) {
  input_.leave_slot();
  work.head.rebase(input_.text().data());
}

task<bool> connection::receive_more(active_request& work, time_point due) {
  set(due);
  leave_slot(work);
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
  input_.append(std::move(*bytes));
  work.head.rebase(input_.text().data());
  co_return true;
}

task<bool> connection::receive_body(active_request& work) {
  const parsed_head& head = work.head;
  if (head.expect_continue() && input_.text().size() == head.size_bytes()) {
    if (!co_await ask_for_body()) {
      keep_ = false;
      co_return false;
    }
  }
  if (head.chunked()) co_return co_await receive_chunked_body(work);
  const body_pace pace{loop_.now(), *work.bounds};
  while (!body_has_come(work)) {
    const std::size_t received = input_.text().size() - head.size_bytes();
    if (!co_await receive_more(work, pace.due(loop_.now(), received))) co_return false;
  }
  co_return true;
}

task<bool> connection::receive_chunked_body(active_request& work) {
  const parsed_head& head = work.head;
  chunked_decoder decoder;
  const body_pace pace{loop_.now(), *work.bounds};
  for (std::uint64_t received = 0;;) {
    const std::string_view fresh = input_.text().substr(head.size_bytes());
    received += fresh.size();
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
    input_.truncate(head.size_bytes());
    if (!co_await receive_more(work, pace.due(loop_.now(), received))) co_return false;
  }
  work.body = work.decoded;
  work.note();
  co_return true;
}

task<void> connection::finish_streams(active_request& work) {
  exchange& reply = *work.reply;
  expect_reply(work);
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
