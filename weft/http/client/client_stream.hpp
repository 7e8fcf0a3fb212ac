// A response whose body is read piece by piece, and a request whose body is written so.
//
// Problem: what does not fit in memory must go through it, no faster than the slower side, and half
// a body must not be taken for a whole one. Contract: what client::open() and client::upload()
// give; a movable value, one task at a time. Each wait obeys the task that waits, and
// client_options::timeout for itself alone; a read that was given up loses nothing, a write that
// failed has spoilt the request. While nobody reads, nothing is received, and the server has to
// wait; while the server is slow, write() waits once more than 64 KiB are queued. A connection is
// kept for others once its response was read to the end; one that is dropped before is closed.
// When the client is stopped, what is left of its streams is closed, and they fail with
// errc::cancelled. They may outlive it.
//
//   auto file = co_await http.open({http::method::get, url});
//   while (auto piece = co_await file->read()) use(*piece);       // ends with errc::closed
//   if (auto whole = file->outcome(); !whole) ...                  // or before its end
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/coro/borrowed_text.hpp>
#include <weft/coro/borrowing_task.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/client/client_error.hpp>
#include <weft/http/client/client_response.hpp>

namespace weft::http {

class client;

namespace detail {
struct streamed_request;
struct end_streamed_request {
  void operator()(streamed_request* of) const noexcept;
};
using streamed_request_pointer = std::unique_ptr<streamed_request, end_streamed_request>;
}  // namespace detail

class client_stream {
 public:
  /// As client_response has them.
  [[nodiscard]] http::status status() const noexcept { return head_.status(); }
  [[nodiscard]] bool is_success() const noexcept { return head_.is_success(); }
  [[nodiscard]] const header_list& headers() const noexcept { return head_.headers(); }
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept {
    return head_.header(name);
  }

  /// The next piece, never empty; gone with the next read(). errc::closed: that was all.
  [[nodiscard]] task<client_result<std::string_view>> read();
  /// Whether all of the body has been read, or else what the last read() failed with; before that
  /// errc::unavailable.
  [[nodiscard]] result<void> outcome() const noexcept { return outcome_; }

 private:
  friend class client;
  friend class client_upload;
  client_stream(detail::streamed_request_pointer request, client_response head) noexcept
      : request_{std::move(request)}, head_{std::move(head)} {}

  detail::streamed_request_pointer request_;
  client_response head_;
  result<void> outcome_ = fail(errc::unavailable);
};

class client_upload {
 public:
  /// Copies `text`, which is borrowed until then. errc::closed: the server has answered already and
  /// need not hear the rest; finish() has its answer.
  [[nodiscard]] borrowing_task<client_result<void>> write(borrowed_text text WEFT_LIFETIME_BOUND);
  /// Ends the body and waits for the head of the response. Once.
  [[nodiscard]] task<client_result<client_stream>> finish();

 private:
  friend class client;
  explicit client_upload(detail::streamed_request_pointer request) noexcept
      : request_{std::move(request)} {}

  detail::streamed_request_pointer request_;
};

}  // namespace weft::http
