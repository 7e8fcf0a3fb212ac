// Whether a program lives, and whether it is ready: two pages for whoever sends it its work.
//
// Problem: a program that waits for its database must not be killed for that, nor be sent requests.
// Contract: a service. `health` is answered with 200 and "ok" as long as this shard turns.
// `readiness` asks all checks that services have added, at once, and is answered with 200, or with
// 503 where one fails, throws or takes longer than `timeout`, and while the server drains. The
// document names those that are not ready, and why, to everyone who may ask. A check is a function
// that returns bool, result<void>, or a task of either; it ends with the service whose constructor
// adds it, or with `owner`, which is kept while it is asked. Each shard answers for itself. One
// shard.
//
//   orders(http::health_pages& health, database& db) {
//     health.check("database", [&db]() -> task<result<void>> { return db.ping(); });
//   }
//   // GET /readyz: 503 {"ready":false,"not_ready":[{"name":"database","why":"timed out"}]}
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/server.hpp>
#include <weft/service/lifetime.hpp>

namespace weft::http {

struct health_pages_options {
  std::string health = "/healthz";
  std::string readiness = "/readyz";
  /// For all checks of one request.
  duration timeout = std::chrono::seconds{2};
};

class health_pages {
 public:
  using options = health_pages_options;

  health_pages(options chosen, server& http);
  health_pages(const health_pages&) = delete;
  health_pages& operator=(const health_pages&) = delete;
  ~health_pages();

  template <class F>
  health_pages& check(std::string name, F f, lifetime* owner = lifetime::current()) {
    add(std::move(name), [f = std::move(f)]() mutable { return ask(f); }, owner);
    return *this;
  }

 private:
  using question = unique_function<task<result<void>>()>;
  struct part;

  static result<void> verdict(bool is_ready) {
    if (is_ready) return {};
    return fail(errc::unavailable);
  }
  static result<void> verdict(result<void> outcome) { return outcome; }

  /// `f` lives until the task has ended.
  template <class F>
  static task<result<void>> ask(F& f) {
    if constexpr (detail::is_task<std::invoke_result_t<F&>>)
      co_return verdict(co_await f());
    else
      co_return verdict(f());
  }

  void add(std::string name, question f, lifetime* owner);
  [[nodiscard]] task<response> readiness();

  server& http_;
  duration timeout_;
  std::vector<std::shared_ptr<part>> parts_;  // those that have not ended
};

}  // namespace weft::http
