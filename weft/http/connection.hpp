// One client's connection: reads requests, has them answered, keeps time.
//
// Contract: internal to http. Made by the server for an accepted stream, and its own from begin()
// on. While no request is under way it holds no buffer, no request object and no coroutine: it is
// called when bytes have come, and spawns a task into the host's scope for what must be waited for.
// Its timer is lazy: a keep-alive request that is answered without waiting touches none. While the
// server drains, every request that has begun to come is answered, and the last reply says that it
// is the last; leave_if_idle() ends a connection that none comes on. Whoever is told so may go on
// sending for a while, so that no client sees a reset instead of its reply. When the host's
// scope is asked to stop, what is under way is asked to end, and cut() ends what only reads.
//
//   connection::begin(std::make_unique<connection>(host, std::move(stream)));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weft/coro/task.hpp>
#include <weft/http/carrier.hpp>
#include <weft/http/client_link.hpp>
#include <weft/http/connection_peer.hpp>
#include <weft/http/limits.hpp>
#include <weft/http/request_input.hpp>
#include <weft/loop/lazy_timer.hpp>
#include <weft/net/stream_receiver.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::http {

struct active_request;
class exchange;
class upgraded;

class connection final : public carrier,
                         public client_link,
                         private lazy_timer,
                         private net::stream_receiver {
 public:
  /// `named`: who it is, if a balancer has been asked.
  connection(connection_host& host, net::tcp_stream stream,
             const std::optional<connection_peer>& named = {});
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() override;
  static void* operator new(std::size_t size_bytes);
  static void operator delete(void* memory, std::size_t size_bytes) noexcept;

  /// Serves until the connection ends, then deletes it.
  static void begin(std::unique_ptr<connection> self) noexcept { self.release()->go_on(false); }
  /// Nothing more is read, and what is waited for no longer.
  void cut() noexcept override {
    is_cut_ = true;
    stream_receiver::cancel(stream_);
  }

  /// If no request is under way and none has come, by a last look at the socket: tells the client
  /// that this is the end, and goes on reading for a while.
  void leave_if_idle() noexcept override;
  [[nodiscard]] const net::tls_info* tls() const noexcept override { return stream_.tls(); }
  [[nodiscard]] std::string_view forwarded_scheme() const noexcept override;
  [[nodiscard]] std::string description() const override;

  /// Tells who comes beyond the limit so, and listens until that has been heard; then deletes it.
  static void turn_away(std::unique_ptr<connection> self);

 private:
  friend class body_reader;
  friend class exchange;

  /// What is to be done next with a request.
  enum class step : std::uint8_t { parse, handle, complete };

  /// Reads and answers for as long as nothing must be waited for; `has_received`: beginning with
  /// what has come. Deletes this at the end.
  void go_on(bool has_received) noexcept;
  static void on_received(stream_receiver& self) noexcept;
  /// Goes on with the requests that have come, after it has given way.
  static void on_turn(stream_receiver& self) noexcept;
  /// What came of reading. False: nothing, and nothing is left to do.
  [[nodiscard]] bool take(result<buffer_ref>&& bytes);
  /// Answers the requests that have come. False: one must be waited for, by a task that goes on.
  [[nodiscard]] bool answer();

  /// From `next` on, without waiting. False: what `work` says must be waited for; a turn of others,
  /// once this has answered requests_per_turn, or produced as much as others may wait for.
  [[nodiscard]] bool answer(active_request& work, step next);

  /// Answers the rest, from what must be waited for, and goes on.
  task<void> answer_waiting();

  /// True: the next request has its head, in `work`. False: its bytes have not all come, or it was
  /// refused.
  [[nodiscard]] bool next_request(active_request& work);
  [[nodiscard, gnu::cold]] bool begins_http2() noexcept;
  [[nodiscard]] bool body_has_come(active_request& work);
  /// As body_has_come(), by a look at what has not been received yet.
  [[nodiscard, gnu::noinline]] bool rest_has_come(active_request& work);
  /// False: it did not come.
  task<bool> receive_body(active_request& work);
  /// Whether the handler is to take the body itself, as it comes.
  [[nodiscard]] bool streams_body(active_request& work);
  [[nodiscard, gnu::noinline]] bool takes_more(active_request& work);
  task<bool> ask_for_body() override;
  task<bool> receive_chunked_body(active_request& work);
  // Memory for a body that is gathered whole.
  [[nodiscard]] bool needs_memory(const active_request& work) const noexcept;
  [[nodiscard]] bool reserve_now(active_request& work);
  task<bool> reserve(active_request& work);
  task<bool> reserve_for_chunks(active_request& work);
  /// Waits, and reads nothing meanwhile. Empty: there was none, and the client has been told.
  task<memory_reservation> reserve(std::size_t size_bytes);
  void keep_memory(active_request& work, memory_reservation memory);
  /// Before a client is waited for: those who are slow would keep all slots from the others.
  void leave_slot(active_request& work);
  /// More bytes, which are due by then. False: there will be none.
  task<bool> receive_more(active_request& work, time_point due);
  /// False: there is none within a moment, and the request has been refused.
  task<bool> wait_for_memory();
  /// Gives the path that was looked for, in normal form.
  std::string_view find_route(active_request& work);
  /// Calls the handler, which replies, or leaves its task in the exchange.
  void call_handler(active_request& work, bool keep_alive);
  /// Calls one that takes the body, or gives its own, piece by piece.
  [[gnu::noinline]] void call_streaming_handler(active_request& work);
  /// Ends what a handler that streamed has left unfinished.
  task<void> finish_streams(active_request& work);
  void stop_handler_clock() noexcept override { set(time_point::max()); }
  void start_handler_clock() noexcept override;
  /// While a handler works: looks after its client. False: the handler's time is over.
  [[nodiscard]] bool handler_goes_on() noexcept;
  [[nodiscard]] bool client_has_gone() noexcept;
  /// While its client is waited for: whether that takes its replies fast enough, so far.
  [[nodiscard]] bool client_takes_enough() noexcept;
  [[nodiscard]] const connection_peer& peer() override;
  [[nodiscard]] std::optional<connection_peer> known_peer() const {
    return peer_ ? std::optional{*peer_} : std::nullopt;
  }
  /// False: the client is slow to take its replies.
  [[nodiscard]] bool complete(active_request& work);
  [[nodiscard]] bool keeps_alive(const parsed_head& head) const noexcept override;
  /// Waits while the client is slow to take its replies. False: it takes none.
  task<bool> make_room();
  task<void> linger();
  task<result<std::size_t>> drop_input();

  [[nodiscard]] std::string_view received() const noexcept {
    return input_ ? input_->bytes.text() : std::string_view{};
  }
  /// Whether `text` begins a request: not an empty line before one (RFC 9112 section 2.2), which
  /// some clients send behind a body and then no request.
  [[nodiscard]] static bool begins_request(std::string_view text) noexcept {
    return !text.empty() && text != "\r" && text != "\r\n";
  }
  /// Sets the deadline of what comes next, and keeps no slot for what has begun.
  void prepare_to_read();
  /// That, where some of a request has come, or an empty line.
  [[gnu::noinline]] void prepare_to_read_rest();
  /// Sets the deadline of a request of which nothing has come.
  void expect_request();
  [[nodiscard]] bool has_input() const noexcept override { return stream_.has_input(); }

  // connection_body.cpp
  task<result<std::string_view>> receive_body(buffer_ref& slot) override;
  [[nodiscard]] bool body_has_ended() const noexcept override { return false; }
  void send_reply(const reply_head& head, std::string_view body,
                  const body_memory* memory) override;
  void send_head(const reply_head& head, bool ends) override;
  void append_body(std::string_view piece, body_framing framing) override;
  void append_body(std::string&& piece, body_framing framing) override;
  void end_body(body_framing framing) override;
  [[nodiscard]] std::size_t queued_bytes() const noexcept override {
    return stream_.queued_bytes();
  }
  [[nodiscard]] std::size_t untaken_bytes() const noexcept override {
    return stream_.untaken_bytes();
  }
  task<result<void>> drain(bool empty) override;
  [[nodiscard]] std::size_t send_from(const file& from, std::uint64_t offset,
                                      std::size_t size_bytes) noexcept override;

  [[nodiscard]] bool must_linger() const noexcept;
  /// The last reply was 101: the connection is somebody else's from now on. Deletes this.
  void hand_over(std::unique_ptr<upgraded> to) noexcept;
  [[gnu::noinline]] void refuse(status code, std::string_view reason, std::string_view fields = {});
  /// `head`: of the request, as far as it has come.
  void refuse(status code, std::string_view reason, std::string_view fields, std::string_view head);
  /// That, to one connection too many.
  void refuse_for_crowd(std::string_view head);
  task<std::string> hear_head();
  /// That, since nothing more is to be held for who has not sent all of a request.
  void refuse_for_memory();
  void keep_or_refuse_head();
  static void on_timeout(lazy_timer& self) noexcept;
  static constexpr lazy_timer::kind timeout_kind{&on_timeout, "timeout of an HTTP connection"};

  net::tcp_stream stream_;
  std::unique_ptr<request_input> input_;         // from the first byte to the last of what has come
  std::unique_ptr<const connection_peer> peer_;  // once it has been asked for
  std::unique_ptr<active_request> waiting_;      // from answer() to the end of answer_waiting()
  std::uint32_t answered_ = 0;
  bool keep_ = true;
  bool refused_ = false;
  bool speaks_http2_ = false;
  bool timed_out_ = false;
  bool head_is_late_ = false;  // some of a head has come: its deadline runs
  bool turned_away_ = false;
  bool left_ = false;  // the client has been told that this is the end; it is only listened to
};

static_assert(sizeof(connection) <= 256, "every idle client has one");

}  // namespace weft::http
