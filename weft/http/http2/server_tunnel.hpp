// A stream of HTTP/2 that another protocol is spoken over (RFC 8441).
//
// Contract: internal to http; as tunnel.hpp says. Belongs to whoever speaks over it; the stream
// tells it what comes, and stays until it has gone. The client gets its window back as it is read.
//
//   upgraded::begin(std::move(to), upgraded_link{std::make_unique<server_tunnel>(*this)});
#pragma once

#include <weft/coro/runnable.hpp>
#include <weft/http/tunnel.hpp>

namespace weft::http::http2 {

class server_stream;

class server_tunnel final : public tunnel, private runnable {
 public:
  explicit server_tunnel(server_stream& stream) noexcept;
  ~server_tunnel() override;

  // For the stream.
  /// Something has come, or nothing comes any more.
  void note_input() noexcept;

 private:
  [[nodiscard]] bool begin_read(answer_function on_answer,
                                net::stream_receiver& who) noexcept override;
  [[nodiscard]] result<buffer_ref> take_read() noexcept override;
  void cancel_read() noexcept override;
  [[nodiscard]] net::write_queue& output() noexcept override;
  [[nodiscard]] const net::write_queue& output() const noexcept override;
  void send_later() override;
  [[nodiscard]] task<result<void>> drain() override;
  void end_output() noexcept override;
  void give_up_output() noexcept override;
  [[nodiscard]] result<net::endpoint> peer_endpoint() const override;
  [[nodiscard]] const net::tls_info* tls() const noexcept override;

  [[nodiscard]] bool has_input() const noexcept;
  static void on_turn(runnable& self) noexcept;

  server_stream& stream_;
  net::stream_receiver* who_ = nullptr;  // waits
  answer_function on_answer_ = nullptr;
  bool is_queued_ = false;     // to answer
  bool is_cancelled_ = false;  // the read is
  bool gives_up_ = false;
};

}  // namespace weft::http::http2
