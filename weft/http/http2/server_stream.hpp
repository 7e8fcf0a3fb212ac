// One request over HTTP/2, and its reply.
//
// Contract: internal to http. Made by its session when a request's header section begins, and gone
// once the stream has closed and whoever works for it has ended. A request that needs no waiting is
// answered at the host's desk, like one of HTTP/1.1; else the stream takes the desk along. What
// comes of a body waits here until a handler takes it, and only then does the client get its window
// back; a body that is wanted whole is gathered, all of a session within a bound. What a handler
// gives of a reply waits here until the client's windows and the connection take it. One that was
// asked for by extended CONNECT is then spoken over, by its tunnel (server_tunnel.hpp). One shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weft/base/intrusive_list.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/body_pace.hpp>
#include <weft/http/carrier.hpp>
#include <weft/http/fault.hpp>
#include <weft/http/http2/inbound_window.hpp>
#include <weft/http/http2/pooled_text.hpp>
#include <weft/http/http2/priority_field.hpp>
#include <weft/http/http2/stream_table.hpp>
#include <weft/http/status.hpp>
#include <weft/http/upgraded.hpp>
#include <weft/loop/lazy_timer.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/net/write_queue.hpp>

namespace weft::net {
class tcp_stream;
}

namespace weft::http {
struct active_request;
}

namespace weft::http::http2 {

class server_session;
class server_tunnel;

/// What its session keeps of a stream.
struct stream_flow {
  explicit stream_flow(std::int64_t inbound_bytes, std::int64_t outbound_bytes) noexcept
      : in_window{inbound_bytes}, out_window{outbound_bytes} {}

  inbound_window in_window;
  std::int64_t out_window;  // of the reply's body: what the client lets come
  stream_priority priority{.is_incremental = true};  // who says nothing has his share
  std::optional<std::uint32_t> last_word;            // what it is reset with, once it is ending
  list_link in_session;
  list_hook in_line;
  list_hook in_beginning;  // its handler is to begin
  list_hook in_ready;      // there is something to frame, and the client lets it come
  list_hook in_ending;     // both sides have said all, or it is reset: over with this turn
};

class server_stream final : public carrier,
                            public stream_table<server_stream>::entry,
                            public stream_flow,
                            private lazy_timer {
 public:
  server_stream(server_session& session, std::int32_t id, std::int64_t inbound_bytes,
                std::int64_t outbound_bytes);
  ~server_stream() override;
  static void* operator new(std::size_t size_bytes);
  static void operator delete(void* memory, std::size_t size_bytes) noexcept;

  // What comes, as the session tells it.
  /// The header section has, and stands in the session's head(). `ends`: there is no body.
  void take_head(bool ends);
  void take_data(std::string_view data);
  void take_end();
  /// The stream is no more, whoever has ended it. Deletes this, if nobody works for it.
  void take_close() noexcept;
  /// It has stood in line, and it is its turn.
  void take_turn();
  /// Begins to work for it.
  void begin_work() noexcept;

  // What goes.
  /// Of the reply's body, and not yet framed.
  [[nodiscard]] std::size_t queued_bytes() const noexcept override { return out_.size(); }
  [[nodiscard]] bool gives_no_more() const noexcept { return out_ends_; }
  /// Gives the next `size_bytes` to `connection`.
  void send(std::size_t size_bytes, net::tcp_stream& connection);
  /// Whether the client has taken less than so much since this was last asked, though there was
  /// something.
  [[nodiscard]] bool has_stalled(std::size_t least_bytes) noexcept;

  // How it stands.
  /// The end of the reply has left, or this has ended it.
  [[nodiscard]] bool is_answered() const noexcept { return is_answered_; }
  void note_answered() noexcept { is_answered_ = true; }
  /// The client has nothing more to say.
  [[nodiscard]] bool has_come_whole() const noexcept { return in_ended_; }
  /// Of the shard's memory, for what has come and what is to go.
  [[nodiscard]] std::size_t held_bytes() const noexcept;
  /// Waits for the rest of a body that is wanted whole.
  [[nodiscard]] bool is_gathering() const noexcept { return gathers_; }
  /// Or spoken over, by whoever has asked for that.
  [[nodiscard]] bool is_worked_for() const noexcept { return is_worked_for_ || is_spoken_over(); }
  [[nodiscard]] bool is_spoken_over() const noexcept { return tunnel_ != nullptr; }
  [[nodiscard]] std::size_t gathered_bytes() const noexcept { return gathered_; }
  /// Gives the client what was withheld of its window, if anything was.
  void release_window() noexcept;
  void reset(std::uint32_t code) noexcept;

  [[nodiscard]] const net::tls_info* tls() const noexcept override;
  [[nodiscard]] std::string_view forwarded_scheme() const noexcept override;

  [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }
  /// Of the session's, until the turn is over.
  [[nodiscard]] bool is_ending() const noexcept { return in_ending.is_linked(); }

 private:
  friend server_tunnel;

  [[nodiscard]] active_request& work() const noexcept;
  [[nodiscard]] std::optional<protocol_fault> read_head(active_request& into);
  /// Takes the desk along, and the head's text, which stays where it is.
  void keep_work();
  void take_head_of_body();
  void tell_of_input() noexcept;
  void gather(std::string_view data);
  void finish_gathering();
  /// From now on its request, or its reply, waits here.
  void count_self() noexcept;

  // server_stream_memory.cpp: for a body that is gathered
  void begin_gathering();
  /// At once, or when there is some: until then the client's window stays shut.
  void reserve_memory(std::size_t size_bytes);
  task<void> wait_for_memory(std::size_t size_bytes);
  void take_memory(memory_reservation memory);
  void go_on_gathering();
  void refuse_for_memory();
  /// Whether there is memory for data that has come. False: it was refused.
  [[nodiscard]] bool has_memory_for(std::string_view data);
  /// At once, or when as much of other replies has gone as has to.
  void answer_in_turn(active_request& work);
  void answer(active_request& work);
  void call_handler(active_request& work);
  void start_work();
  task<void> work_on();
  task<void> run_handler();
  void complete(active_request& work);
  void finish_streams(active_request& work);
  void refuse(status code, std::string_view reason, std::string_view fields = {});

  // server_stream_body.cpp: as a tunnel
  void open_tunnel(const reply_head& head);
  /// A success would be one; true: so it is not said.
  [[nodiscard]] bool refuses_tunnel(status code);
  void hand_over(std::unique_ptr<upgraded> to);
  /// Nobody speaks over it any more. May be the end of this.
  void leave_tunnel() noexcept;

  /// Nobody is told more of it (RFC 9113 section 8.1.1).
  void refuse_malformed() noexcept;
  /// Nothing more of the body is taken.
  void drop_input() noexcept;
  void give_window_back(std::size_t size_bytes);
  static void on_timeout(lazy_timer& self) noexcept;
  static constexpr lazy_timer::kind timeout_kind{&on_timeout, "timeout of an HTTP/2 stream"};

  // As a carrier.
  [[nodiscard]] const connection_peer& peer() override;
  [[nodiscard]] bool keeps_alive(const parsed_head& /*head*/) const noexcept override {
    return true;
  }
  [[nodiscard]] bool has_input() const noexcept override { return true; }
  void stop_handler_clock() noexcept override { set(time_point::max()); }
  void start_handler_clock() noexcept override;
  task<bool> ask_for_body() override;
  task<result<std::string_view>> receive_body(buffer_ref& slot) override;
  [[nodiscard]] bool body_has_ended() const noexcept override {
    return in_ended_ && in_.size() == given_;
  }
  void send_reply(const reply_head& head, std::string_view body,
                  const body_memory* memory) override;
  void send_head(const reply_head& head, bool ends) override;
  void append_body(std::string_view piece, body_framing framing) override;
  void append_body(std::string&& piece, body_framing framing) override;
  void end_body(body_framing framing) override;
  [[nodiscard]] std::size_t untaken_bytes() const noexcept override { return out_.size(); }
  [[nodiscard]] bool waits_for_others() const noexcept override;
  task<result<void>> drain(bool empty) override;
  [[nodiscard]] std::size_t send_from(const file& from, std::uint64_t offset,
                                      std::size_t size_bytes) noexcept override;
  void go_on_sending();

  server_session& session_;
  std::unique_ptr<active_request> work_;  // once it must be waited for
  memory_reservation held_;               // for this, once it waits, and for a short body
  std::optional<task<void>> to_begin_;    // what works for it, until that begins
  pooled_text head_;                      // its head
  net::write_queue in_;                   // of its body: what has come
  net::write_queue out_;                  // of the reply's: what is to go
  event has_come_;
  event has_room_;
  std::optional<body_pace> pace_;               // while it is gathered
  std::optional<std::uint64_t> still_to_come_;  // of a body that has said how long it is
  server_tunnel* tunnel_ = nullptr;             // while it is spoken over
  std::size_t given_ = 0;                       // of in_: what the handler looks at
  std::size_t gathered_ = 0;
  std::size_t withheld_ = 0;  // of that: of the stream's window
  time_point withheld_since_{};
  std::size_t owed_ = 0;            // come, and not given back to the client's window
  std::size_t whole_ = 0;           // of a reply that was given whole: what is queued
  std::size_t queued_at_look_ = 0;  // see has_stalled()
  bool in_ended_ = false;           // all of the body has come
  bool gathers_ = false;            // a body that is wanted whole
  bool waits_for_memory_ = false;   // for that
  bool drops_input_ = false;        // nobody takes what comes
  bool out_ends_ = false;           // behind what is queued
  bool is_worked_for_ = false;      // by work_on()
  bool is_answered_ = false;
  bool asks_for_tunnel_ = false;
  bool is_closed_ = false;
};

}  // namespace weft::http::http2
