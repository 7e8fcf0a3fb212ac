// One request being answered: what handlers read from and reply to.
//
// Contract: made by the connection for each request and gone when its reply is queued. Exactly one
// reply is sent; a handler that gave none is answered for with 500. Replies are written into the
// connection's send queue, so that those to pipelined requests leave together. A handler that must
// wait leaves its task in `work`; only in that task may bodies be streamed. One shard.
//
//   void hello(http::exchange& e) { e.reply(http::status::ok, "text/plain", "hello\n"); }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/coro/stop_token.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/request.hpp>
#include <weft/http/response.hpp>
#include <weft/http/status.hpp>
#include <weft/net/ip_address.hpp>

namespace weft {
class shared_text;
}
namespace weft::json {
struct error;
}

namespace weft::telemetry {
struct trace_context;
}
namespace weft::http {

enum class body_framing : std::uint8_t;
enum class connection_field : std::uint8_t;
struct active_request;
struct call_context;
class body_decoding;
struct body_memory;
class body_reader;
class body_writer;
class carrier;
struct coded_texts;
struct connection_peer;
class coding_set;
class compress;
struct compress_rules;
struct connection_host;
class decompress;
struct decompress_rules;
struct reply_facts;
struct reply_head;

class exchange;
class upgraded;
namespace ws {
class server_upgrade;
}

/// Answers a request; see handler.hpp for what becomes one.
using handler = unique_function<void(exchange&)>;

class exchange {
 public:
  /// Of the request `of`, which `client` has sent. Once that is asked to stop, a reply says that it
  /// is the last. So it does while the server drains, unless another request has begun to come:
  /// `more_has_come`, or its bytes wait in the stream.
  exchange(const parsed_head& head, std::string_view path, const route_match& match,
           std::string_view body, carrier& client, active_request& of, bool keep_alive,
           bool more_has_come) noexcept
      : request_{head, path, match, body, client},
        of_{of},
        keep_alive_{keep_alive},
        more_has_come_{more_has_come} {}
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  [[nodiscard]] const http::request& request() const noexcept { return request_; }

  /// `fields` are further header lines, each with its line end.
  void reply(status code, std::string_view content_type, std::string_view body,
             std::string_view fields = {});
  void reply(response&& answer);
  /// A body that other replies have as well, and that is not copied for each.
  void reply_shared(status code, std::string_view content_type, const shared_text& body,
                    std::string_view fields = {});
  /// A problem document (RFC 9457) for a failed operation; the error's code chooses the status.
  void reply(error why);
  /// 400 with where and why the body is not the JSON that was expected.
  void reply(const json::error& why);

  /// A problem document (RFC 9457) that says what was wrong with the request.
  void reply_problem(status code, std::string_view detail, std::string_view fields = {});

  [[nodiscard]] bool replied() const noexcept { return replied_ != status{}; }
  /// Whether the connection is kept after the reply.
  [[nodiscard]] bool keep_alive() const noexcept { return keep_alive_; }
  void close_after_reply() noexcept { keep_alive_ = false; }

  /// The request's body, for a handler that takes it piece by piece; request().body() is then
  /// empty.
  [[nodiscard]] body_reader& reader();
  /// For a reply whose body is given piece by piece.
  [[nodiscard]] body_writer& writer();
  /// For a middleware that returns a task: what comes next, until that has replied.
  [[nodiscard]] task<void> run(handler& next);
  /// For a middleware that has something to do once there is a reply, without waiting itself: calls
  /// what comes next, and `done()` when that has replied, now or late. What it throws is answered
  /// with 500 before that, and whoever gave no reply as well.
  template <class F>
  void run_then(handler& next, F done) {
    run_now(next);
    if (work)
      work.emplace(finish_then(take_work(), std::move(done)));
    else
      done();
  }
  /// Goes into the reply, whoever gives that. errc::invalid_argument: as response::add_field().
  result<void> add_field(std::string_view name, std::string_view value);
  /// The reply says how long it took from now to its head: `Server-Timing: total;dur=1.250`, in
  /// milliseconds of the loop's turns (event_loop::now()). What is answered at once takes 0.
  void time_reply();
  /// Who asks: the address that trusted proxies give (server_options), else that of the other end
  /// of the connection. None for a Unix socket, for who is hidden by a proxy, and for who had gone
  /// when the kernel was asked, which is once a connection at most: nothing is to be concluded from
  /// that.
  [[nodiscard]] std::optional<net::ip_address> client() const;
  /// Whether who asks is at the other end of a Unix socket, and so a program of this machine: no
  /// proxy has said that it asks for another.
  [[nodiscard]] bool is_from_unix_socket() const;
  /// The other end of the connection, or whom a balancer has named (`proxy_protocol`).
  [[nodiscard]] const connection_peer& peer() const;
  /// Whether the handler was called with the head alone: it takes the body by reader(), or the
  /// body is not wanted (route_group::taking_bodies_if()) and its sender is to be refused.
  [[nodiscard]] bool lacks_body() const noexcept;
  /// For a middleware that knows better who asks: from now on client() gives this address, and
  /// request().scheme() this scheme, a constant; empty: that of the connection.
  void set_client(const std::optional<net::ip_address>& address, std::string_view scheme = {});
  /// For a middleware: the time of a handler that waits, and of all that it calls, ends so long
  /// from now, unless it ends sooner anyway.
  void end_within(duration left);
  /// For a middleware: the trace that the request belongs to, to be filled in at once. A handler
  /// that waits has it in its environment.
  [[nodiscard]] telemetry::trace_context& begin_trace();
  /// nullptr: nobody traces it.
  [[nodiscard]] const telemetry::trace_context* trace() const noexcept;
  /// Of the reply's body, given to be sent so far, without what frames it.
  [[nodiscard]] std::uint64_t body_bytes() const noexcept;
  /// The status that was replied; nothing: none yet.
  [[nodiscard]] std::optional<status> replied_with() const noexcept {
    return replied() ? std::optional{replied_} : std::nullopt;
  }

  /// All that the writer was to be given has been given.
  void end_body();
  /// Of what the handler has thrown, which is being caught: the log says so, and the client gets
  /// 500.
  [[gnu::noinline]] void report_exception();
  /// 500, if there is none.
  [[gnu::noinline]] void expect_reply();
  /// If the request's body is lost: tells the client why, unless a reply has begun. False: it is
  /// not.
  [[nodiscard]] bool reply_lost_body();

  /// What is left to do, for a handler that waits.
  std::optional<task<void>> work;

 private:
  friend class body_reader;
  friend class body_writer;
  friend class compress;
  friend struct connection_host;
  friend class decompress;
  friend class ws::server_upgrade;

  /// 101 with `fields`, which name the protocol; then the connection is `to`'s.
  void upgrade(std::string_view fields, std::unique_ptr<upgraded> to);
  [[nodiscard]] connection_host& host() noexcept;
  void run_now(handler& next);
  [[nodiscard]] task<void> take_work() noexcept;
  void log_exception(const char* what) const noexcept;
  /// What `late` leaves to be answered.
  task<void> finish(task<void> late);
  template <class F>
  task<void> finish_then(task<void> late, F done) {
    co_await finish(std::move(late));
    done();
  }
  [[nodiscard]] std::string& added_fields();
  [[nodiscard]] call_context& context();
  // exchange_coding.cpp
  [[nodiscard]] coded_texts& coded();
  void run_coded(compress_rules& rules, handler& next);
  task<void> finish_coded(task<void> late);
  void end_coding() noexcept;
  task<void> give_deferred();
  [[nodiscard]] bool decides_to_code(const reply_facts& facts);
  [[nodiscard]] std::string_view added_so_far() const noexcept;
  [[gnu::noinline]] void send_coded(status code, std::string_view content_type,
                                    std::string_view body, std::string_view fields,
                                    const body_memory* memory);
  [[nodiscard]] std::string_view code_pieces(const response& head,
                                             std::optional<std::uint64_t>& length);
  void run_decoded(decompress_rules& rules, handler& next);
  void refuse_codings(coding_set known);
  [[nodiscard]] bool reserve_decoded(const decompress_rules& rules);
  void decode_whole(body_decoding by, decompress_rules& rules, handler& next);
  task<void> decode_rest(body_decoding by, std::string_view coded_body, handler& next);
  void reply_undecodable(const body_decoding& by);
  [[nodiscard]] connection_field field_for(bool keep_alive) const noexcept;
  /// `memory`: of what `body` shows; nullptr: it is to be copied.
  void send(status code, std::string_view content_type, std::string_view body,
            std::string_view fields, const body_memory* memory);
  /// The head of a reply whose body is written by itself. Nothing: another reply was given.
  [[nodiscard]] std::optional<body_framing> begin_body(const response& head,
                                                       std::optional<std::uint64_t> length_bytes);
  void send_small(const reply_head& head, std::string_view body);
  [[nodiscard]] bool may_keep_alive() const noexcept;
  /// With those that were added before the reply.
  [[nodiscard, gnu::noinline]] std::string_view all_fields(std::string_view of_reply);
  [[nodiscard, gnu::noinline]] std::string_view join_fields(std::string_view of_reply);
  /// The body that nobody seemed to want is read after all.
  void hope_to_keep_alive() noexcept;

  http::request request_;
  active_request& of_;
  status replied_{};
  bool keep_alive_;
  bool more_has_come_;
  std::uint64_t body_bytes_ = 0;  // of a reply that was given whole
};

}  // namespace weft::http
