// The connections to one origin (scheme, host and port): those that are kept, those of HTTP/2 that
// many share, and who waits for one.
//
// Contract: internal to http. There are at most `most` permits; a connection needs one, and so does
// who is about to make one. acquire() gives a lease: a share of a session of HTTP/2 that has room,
// or else a permit, with the connection kept last if there is one, or to be made by who has the
// lease. When all permits are taken it waits, first come, first served; so it does where the origin
// is known to speak HTTP/2 and somebody makes a connection already. A lease that ends gives on what
// it has: a connection that was said to be fit goes to the first who waits, or is kept until its
// time is over; any other is closed and its permit given on. An origin without permits in use is
// forgotten. Allocates nothing. One shard.
//
//   auto lease = co_await origin.acquire();
//   if (!lease->connection()) lease->attach(co_await dial());
//   ...
//   lease->keep();                        // the response was whole, and nothing stood behind it
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/intrusive_list.hpp>
#include <weft/coro/waiter.hpp>
#include <weft/http/client/client_connection.hpp>
#include <weft/http/http2/client_session.hpp>

namespace weft::http {

struct client_core;

class origin_pool {
  /// What a lease has: one of them, or none of them yet.
  struct connections {
    client_connection* own = nullptr;
    http2::client_session* shared = nullptr;
  };

 public:
  class lease {
   public:
    lease() noexcept = default;
    lease(origin_pool& from, connections given) noexcept : origin_{&from}, given_{given} {}
    lease(lease&& other) noexcept
        : origin_{std::exchange(other.origin_, nullptr)},
          given_{std::exchange(other.given_, {})},
          is_fit_{other.is_fit_} {}
    lease& operator=(lease&& other) noexcept {
      lease taken{std::move(other)};
      std::swap(origin_, taken.origin_);
      std::swap(given_, taken.given_);
      std::swap(is_fit_, taken.is_fit_);
      return *this;
    }
    ~lease() {
      if (origin_ != nullptr) origin_->take_back(given_, is_fit_);
    }

    /// Of HTTP/1.1; or the session that it shares; or both are nullptr: one must be made.
    [[nodiscard]] client_connection* connection() const noexcept { return given_.own; }
    [[nodiscard]] http2::client_session* session() const noexcept { return given_.shared; }
    void attach(net::tcp_stream stream);
    /// `stream` speaks HTTP/2.
    void attach_session(net::tcp_stream stream);
    /// Closes the connection of its own, and keeps the permit for another.
    void detach() noexcept;
    /// The connection may serve another request.
    void keep() noexcept { is_fit_ = true; }

   private:
    origin_pool* origin_ = nullptr;
    connections given_;
    bool is_fit_ = false;
  };

 private:
  /// Awaitable, gives result<lease>.
  class [[nodiscard]] acquire_wait final : public waiter {
   public:
    explicit acquire_wait(origin_pool& from) noexcept : origin_{from} {}
    [[nodiscard]] result<lease> await_resume() const noexcept {
      if (outcome()) return lease{origin_, given_};
      // Of who has stood in line the origin may have ended before.
      if (!stood_in_line_) origin_.end_if_unused();
      return fail(outcome().error());
    }

   private:
    friend origin_pool;
    friend waiter;
    wait_line& line() noexcept {
      stood_in_line_ = true;
      return origin_.line_;
    }
    bool take() noexcept { return origin_.take(given_); }
    origin_pool& origin_;
    connections given_;
    bool stood_in_line_ = false;
  };

 public:
  origin_pool(client_core& all, std::string_view name, unsigned most)
      : all_{all}, name_{name}, most_{most} {}
  origin_pool(const origin_pool&) = delete;
  origin_pool& operator=(const origin_pool&) = delete;

  /// "http://127.0.0.1:8080".
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] acquire_wait acquire() noexcept { return acquire_wait{*this}; }

  /// A connection that is kept has ended, or must end. May end the origin.
  void lose(client_connection& connection) noexcept;
  /// Closes those that are kept. May end the origin.
  void close_kept() noexcept;
  /// A connection is no more.
  void count_out() noexcept;

  /// There may be something for who stands in line.
  void serve_line() noexcept;
  /// A session has ended. May end the origin.
  void end_session(http2::client_session& session) noexcept;

 private:
  [[nodiscard]] bool take(connections& into) noexcept;
  [[nodiscard]] http2::client_session* roomy_session() noexcept;
  void take_back(const connections& given, bool is_fit) noexcept;
  [[nodiscard]] bool keep(client_connection& connection) noexcept;
  [[nodiscard]] acquire_wait& first_in_line() noexcept {
    return *static_cast<acquire_wait*>(line_.front());
  }
  void free_permit() noexcept;
  void end_if_unused() noexcept;

  client_core& all_;
  std::string name_;
  unsigned most_;
  unsigned taken_ = 0;                                                // permits
  intrusive_list<client_connection, &client_connection::kept> kept_;  // the last used first
  intrusive_list<http2::client_session, &http2::client_session::in_origin> sessions_;
  unsigned dialling_ = 0;  // have a permit and no connection yet
  bool speaks_http2_ = false;
  wait_line line_;
};

}  // namespace weft::http
