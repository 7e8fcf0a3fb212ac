// A request over HTTP/1.1: it has the connection to itself.
//
// Contract: internal to http, as client_call.hpp says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/coro/environment.hpp>
#include <weft/http/client/client_call.hpp>
#include <weft/http/client/client_connection.hpp>
#include <weft/http/client/response_body.hpp>
#include <weft/http/input_buffer.hpp>

namespace weft::http {

class http1_call final : public client_call {
 public:
  http1_call(client_core& core, const outgoing_request& asked, const url_parts& to,
             const limits& bounds, client_connection& on) noexcept
      : client_call{core, asked, to, bounds}, connection_{&on} {}

  task<void> send() override;
  task<void> begin_upload() override;
  task<result<void>> write(std::string_view piece) override;
  void end_upload() override;
  [[nodiscard]] bool is_answered() const noexcept override { return connection_->has_arrived(); }
  task<outcome<void>> read_head() override;
  task<outcome<std::string_view>> read() override;
  [[nodiscard]] bool is_complete() const noexcept override { return body_.is_complete(); }
  [[nodiscard]] std::string_view text() const noexcept override { return input_.text(); }
  [[nodiscard]] bool leave() noexcept override;

 private:
  void queue_head(const environment& caller, std::string_view body);
  [[nodiscard]] bool is_chunked() const noexcept { return asked_.is_streamed && !asked_.length; }
  /// Sends what is queued. errc::closed: the server answers already.
  task<result<void>> push();
  task<result<void>> make_room();
  task<result<void>> receive();

  client_connection* connection_;  // nullptr: it has been left
  input_buffer input_;
  response_body body_;
  std::size_t used_ = 0;   // at the front of the input: what has been given
  bool is_sent_ = false;   // the request, whole
  bool is_begun_ = false;  // the response has its head
};

}  // namespace weft::http
