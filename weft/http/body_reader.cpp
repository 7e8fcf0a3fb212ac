#include <weft/http/body_reader.hpp>

#include <algorithm>
#include <utility>

#include <weft/http/active_request.hpp>
#include <weft/http/connection.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/loop/file.hpp>
#include <weft/loop/sleep.hpp>

namespace weft::http {
namespace {

/// What a file is given at a time: a trip to a thread for each piece would be dear.
constexpr std::size_t stored_at_once_bytes = 64 * 1024;
/// Decoded of what has come, so that a little that means much does not keep the loop.
constexpr std::size_t most_decoded_before_yield_bytes = 64 * 1024;

}  // namespace

body_reader::body_reader(carrier& client, active_request& of) noexcept
    : client_{client},
      of_{of},
      pending_{client.is_stream()
                   ? std::string_view{}
                   : static_cast<connection&>(client).received().substr(of.head.size_bytes())},
      left_{of.head.content_length().value_or(0)},
      received_{pending_.size()},
      pace_{client.host_.loop.now(), *of.bounds},
      left_alone_since_{client.host_.loop.now()},
      chunked_{of.head.chunked()},
      expects_{of.head.expect_continue() && pending_.empty()} {
  if (!chunked_ && left_ == 0) state_ = state::complete;
}

result<void> body_reader::outcome() const noexcept {
  if (is_whole()) return {};
  return fail(failure_);
}

std::optional<std::uint64_t> body_reader::length() const noexcept {
  if (chunked_ || is_coded_) return std::nullopt;
  return of_.head.content_length().value_or(0);
}

bool body_reader::may_be_left() const noexcept {
  if (complete() || state_ == state::reading) return true;
  return state_ == state::unasked && !expects_ && missing_bytes() <= of_.bounds->unread_body_bytes;
}

bool body_reader::is_too_long_to_drop() const noexcept {
  return !complete() && missing_bytes() > of_.bounds->unread_body_bytes;
}

event_loop& body_reader::loop() const noexcept { return client_.host_.loop; }

/// Of what was announced.
std::uint64_t body_reader::missing_bytes() const noexcept {
  return left_ - std::min<std::uint64_t>(left_, pending_.size());
}

bool body_reader::more_has_come() const noexcept {
  return complete() && connection::begins_request(pending_);
}

/// A piece of what has been received; empty: more must come first.
result<std::string_view> body_reader::take() noexcept {
  std::string_view piece;
  if (client_.is_stream()) {
    piece = std::exchange(pending_, {});
    if (given_ + piece.size() > of_.bounds->body_bytes)
      return lose(describe(fault_kind::body_too_large, given_), errc::limit_exceeded);
    if (client_.body_has_ended()) state_ = state::complete;
  } else if (chunked_) {
    const chunked_piece next = decoder_.next(pending_, *of_.bounds);
    pending_.remove_prefix(next.consumed_bytes);
    piece = next.content;
    if (next.status == chunked_status::complete) state_ = state::complete;
    if (next.status == chunked_status::failed) {
      const protocol_fault why = decoder_.fault();
      return lose(
          why, why.code == status::content_too_large ? errc::limit_exceeded : errc::protocol_error);
    }
  } else {
    piece = pending_.substr(0, std::min<std::uint64_t>(left_, pending_.size()));
    pending_.remove_prefix(piece.size());
    left_ -= piece.size();
    if (left_ == 0) state_ = state::complete;
  }
  if (!is_coded_) given_ += piece.size();
  return piece;
}

task<result<std::string_view>> body_reader::read() {
  return decoding_ ? read_decoded() : read_coded();
}

void body_reader::decode_by(body_decoding by) {
  decoding_ = std::make_unique<body_decoding>(std::move(by));
  is_coded_ = true;
}

task<result<std::string_view>> body_reader::read_decoded() {
  for (;;) {
    const std::string_view piece = decoding_->next(coded_);
    if (decoding_->has_failed())
      co_return decoding_->is_too_large()
          ? lose({.code = status::content_too_large,
                  .reason = decoded_too_large,
                  .offset_bytes = given_},
                 errc::limit_exceeded)
          : lose({.code = status::bad_request, .reason = decoded_wrong, .offset_bytes = given_},
                 errc::protocol_error);
    given_ += piece.size();
    since_yield_ += piece.size();
    if (since_yield_ > most_decoded_before_yield_bytes) {
      since_yield_ = 0;
      co_await yield{client_.host_.loop};
    }
    if (!piece.empty()) co_return piece;
    const auto more = co_await read_coded();
    if (more) {
      coded_ = *more;
      continue;
    }
    if (!complete()) co_return more;
    if (decoding_->is_finished()) {
      decoding_.reset();
      co_return fail(errc::closed);
    }
    co_return lose({.code = status::bad_request, .reason = decoded_wrong, .offset_bytes = given_},
                   errc::protocol_error);
  }
}

/// As it was sent.
task<result<std::string_view>> body_reader::read_coded() {
  if (state_ == state::unasked) begin();
  for (;;) {
    if (complete()) co_return fail(errc::closed);
    if (state_ == state::failed) co_return fail(failure_);
    const result<std::string_view> piece = take();
    if (piece && !piece->empty()) client_.start_handler_clock();
    if (!piece || !piece->empty()) co_return piece;
    if (complete()) continue;
    auto bytes = co_await receive_in_time();
    if (!bytes) co_return fail(bytes.error());
    take_received(*bytes);
  }
}

task<result<void>> body_reader::read_into(file& into, std::uint64_t offset) {
  std::string gathered;
  gathered.reserve(stored_at_once_bytes);
  while (!is_whole()) {
    const auto piece = co_await read();
    if (!piece && !is_whole()) co_return fail(piece.error());
    if (piece) gathered += *piece;
    if (!is_whole() && gathered.size() + buffer_pool::slot_capacity <= stored_at_once_bytes)
      continue;
    const auto stored = co_await into.write_at(offset, gathered);
    if (!stored) co_return stored;
    offset += gathered.size();
    gathered.clear();
  }
  co_return result<void>{};
}

void body_reader::begin() noexcept {
  // The reply need not say that it is the last: the body will have been read.
  if (!may_be_left() && of_.reply) of_.reply->hope_to_keep_alive();
  state_ = state::reading;
}

void body_reader::take_received(std::string_view bytes) noexcept {
  in_slot_ = true;
  pending_ = bytes;
  received_ += pending_.size();
}

task<bool> body_reader::ask_for_it() {
  expects_ = false;
  // Behind the head of a reply it would be a part of that.
  if (of_.reply && of_.reply->replied()) co_return true;
  co_return co_await client_.ask_for_body();
}

task<result<std::string_view>> body_reader::receive_in_time() {
  event_loop& loop = client_.host_.loop;
  slot_.reset();
  if (expects_) {
    const bool is_asked = co_await ask_for_it();
    if (!is_asked) co_return lose(errc::reset);
  }
  pace_.forgive(loop.now() - left_alone_since_);
  environment patience = co_await this_task::environment();
  const deadline own = patience.until;
  patience.until = std::min(own, deadline::at(pace_.due(loop.now(), received_)));
  client_.stop_handler_clock();
  const auto bytes = co_await client_.receive_body(slot_).in(patience);
  client_.start_handler_clock();
  left_alone_since_ = loop.now();
  if (bytes) co_return bytes;
  const error why = bytes.error();
  if (why == errc::cancelled || (why == errc::timed_out && own.passed(loop.now()))) {
    failure_ = why;
    co_return fail(why);
  }
  if (why != errc::timed_out) {
    client_.stop_->request_stop();
    co_return lose(why == errc::closed ? error{errc::reset} : why);
  }
  co_return lose({.code = status::request_timeout,
                  .reason = "the request's body took too long",
                  .offset_bytes = received_},
                 errc::timed_out);
}

std::unexpected<error> body_reader::lose(error why) noexcept {
  state_ = state::failed;
  failure_ = why;
  return fail(why);
}

std::unexpected<error> body_reader::lose(const protocol_fault& why, errc code) noexcept {
  fault_ = why;
  return lose(code);
}

task<bool> body_reader::drop_rest() {
  const std::uint64_t most = of_.bounds->unread_body_bytes;
  const std::uint64_t began = received_;
  while (!complete()) {
    if (expects_ || missing_bytes() > most || received_ - began > most) co_return false;
    const auto piece = co_await read_coded();
    if (!piece && !complete()) co_return false;
  }
  co_return true;
}

std::size_t body_reader::give_back() {
  input_buffer& input = static_cast<connection&>(client_).input_->bytes;
  const std::size_t head_bytes = of_.head.size_bytes();
  if (!in_slot_) return input.text().size() - head_bytes - pending_.size();
  input.truncate(head_bytes);
  if (!pending_.empty()) {
    slot_.remove_prefix(slot_.size() - pending_.size());
    input.append(std::move(slot_));
    of_.head.rebase(input.text().data());
  }
  return 0;
}

}  // namespace weft::http
