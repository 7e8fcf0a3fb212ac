// A request over HTTP/2: a stream of a session that it shares.
//
// Contract: internal to http, as client_call.hpp says. The response's head is put as HTTP/1.1 would
// have it, so that one parser judges both. What comes of the body is kept, up to the stream's
// window, until it is read. A stream that ends before its response does is given up: so is what a
// write() that was given up has begun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

#include <weft/coro/event.hpp>
#include <weft/http/client/client_call.hpp>
#include <weft/http/http2/client_session.hpp>
#include <weft/http/http2/opened_stream.hpp>
#include <weft/http/http2/pooled_text.hpp>

namespace weft::http {

class http2_call final : public client_call, private http2::opened_stream {
 public:
  http2_call(client_core& core, const outgoing_request& asked, const url_parts& to,
             const limits& bounds, http2::client_session& on) noexcept
      : client_call{core, asked, to, bounds}, session_{&on} {}
  ~http2_call() override { std::ignore = leave(); }

  task<void> send() override;
  task<void> begin_upload() override;
  task<result<void>> write(std::string_view piece) override;
  void end_upload() override;
  [[nodiscard]] bool is_answered() const noexcept override { return has_head_ || is_closed_; }
  task<outcome<void>> read_head() override;
  task<outcome<std::string_view>> read() override;
  [[nodiscard]] bool is_complete() const noexcept override {
    return has_ended_ && coming_.size() == 0;
  }
  [[nodiscard]] std::string_view text() const noexcept override { return head_text_.view(); }
  [[nodiscard]] bool leave() noexcept override;
  [[nodiscard]] bool is_refused() const noexcept override { return closing_.is_refused; }

 private:
  void take_field(std::string_view name, std::string_view value) override;
  void take_fields_end() override;
  void take_data(std::string_view piece) override;
  void take_end() noexcept override;
  void take_close(const http2::stream_closing& how) noexcept override;
  [[nodiscard]] std::string_view unsent() const noexcept override { return unsent_; }
  [[nodiscard]] bool gives_no_more() const noexcept override { return gives_no_more_; }
  void note_sent(std::size_t size_bytes) noexcept override;

  void submit(const environment& caller, bool has_body);
  /// Until something has changed.
  task<result<void>> change();
  [[nodiscard]] request_fault broken(std::string_view where) const;

  http2::client_session* session_;  // nullptr: it has been left
  time_point asked_at_{};
  event changed_;
  std::string_view unsent_;  // of the request's body
  http2::pooled_text rest_;  // which that is in, once a write() has ended before it
  bool gives_no_more_ = false;

  http2::pooled_text head_text_;
  http2::pooled_text coming_;   // of the response's body
  http2::pooled_text reading_;  // what read() has given
  std::uint64_t given_ = 0;     // bytes of the body
  bool has_head_ = false;
  bool has_ended_ = false;  // the response, whole
  bool is_closed_ = false;
  http2::stream_closing closing_;
  std::optional<request_fault> fault_;  // of the head
};

}  // namespace weft::http
