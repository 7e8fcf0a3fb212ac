// The routes of a server: its handlers, and the services that they end with.
//
// Problem: a service that has ended must not be called, while one of its handlers may just run, or
// wait. Contract: internal to http. A route ends with its owner: a request that comes then finds
// nothing at its path. Whoever waits for a handler holds a use of its route: the service and what
// the handler captured are not destroyed before the last of them, though requests never keep a
// service from being asked to stop. A route that ended within a call of its own goes by the end of
// the turn. What a request has found stays until then, and its number its own. Ends after all uses.
// One shard.
//
//   auto added = routes.add(method::get, "/orders/{id}", std::move(handler), lifetime::current());
//   routes.find(method::get, path, match);
//   routes.answer(match, exchange);
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/intrusive_list.hpp>
#include <weft/http/limits.hpp>
#include <weft/http/method.hpp>
#include <weft/http/route_handler.hpp>
#include <weft/http/route_view.hpp>
#include <weft/http/router.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/service/lifetime.hpp>

namespace weft::http {

struct cors_question;

class route_table : private flushable {
  struct route;

 public:
  /// `server`: for whom handlers without an owner work; nullptr: for nobody.
  /// `bounds`: of the server; they outlive it.
  route_table(event_loop& loop, const limits& bounds, lifetime* server) noexcept;
  route_table(const route_table&) = delete;
  route_table& operator=(const route_table&) = delete;
  ~route_table();

  /// As router::add(), and what the handler takes must be in the pattern. Ends with `owner`;
  /// nullptr: with the table.
  [[nodiscard]] std::expected<void, std::string> add(method asked, std::string_view pattern,
                                                     route_handler answer, lifetime* owner,
                                                     const route_limits& bounds = {});

  void find(method asked, std::string_view path, route_match& match) const noexcept {
    router_.find(asked, path, match);
  }
  [[nodiscard]] method_set allowed_anywhere() const noexcept { return router_.allowed_anywhere(); }

  /// Whether a handler was found that takes the body itself, or does not want that of a request
  /// with such a head.
  [[nodiscard]] bool is_called_at_head(const route_match& match, const header_list& fields) const {
    if (match.outcome != route_outcome::found) return false;
    return routes_[match.payload]->shape->arrival == body_arrival::streamed ||
           refuses_sender(match, fields);
  }
  /// Whether the handler that was found does not want the body of a request with such a head: it
  /// refuses the sender, however long the body is.
  [[nodiscard]] bool refuses_sender(const route_match& match, const header_list& fields) const {
    if (match.outcome != route_outcome::found) return false;
    const route& found = *routes_[match.payload];
    return found.wish && !(*found.wish)(fields);
  }

  /// As long as the table.
  [[nodiscard]] const limits& bounds_of(const route_match& found) const noexcept {
    return routes_[found.payload]->bounds;
  }

  /// Whether a policy is around any of them.
  [[nodiscard]] bool has_policies() const noexcept { return has_policies_; }
  /// The fields that the policies of the route at `path` have for a reply, as lines; of another
  /// method's, where `match` has found none.
  void append_cors_fields(const route_match& match, std::string_view path,
                          const cors_question& asked, std::string& lines) const;

  /// Calls the handler that was found.
  void answer(const route_match& found, exchange& e) { routes_[found.payload]->answer(e); }

  /// While a handler that was found, and has just been called, waits.
  class [[nodiscard]] use {
   public:
    use(route_table& in, const route_match& found);
    use(const use&) = delete;
    use& operator=(const use&) = delete;
    ~use();

    /// The service that the handler works for; nullptr: for none.
    [[nodiscard]] lifetime* owner() const noexcept;

   private:
    route_table& in_;
    route& route_;
  };

  /// Those that requests find, in no order.
  [[nodiscard]] std::vector<route_view> all() const;
  /// How often one was added or has ended.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

  /// Routes that requests find, and those that have ended and are still in use.
  [[nodiscard]] std::size_t size() const noexcept { return routes_.size() - free_.size(); }

 private:
  struct route final : registration {
    route(route_table& of, method which, std::string_view path, route_handler call,
          lifetime* of_service, const limits& within)
        : registration{&on_end},
          answer{call.take()},
          table{of},
          serves{of_service},
          pattern{path},
          shape{&call.shape()},
          text{call.text()},
          wish{call.wish()},
          policies{call.policies()},
          asked{which},
          bounds{within} {}
    static void on_end(registration& self) noexcept;
    void keep_service() {
      if (serves != nullptr && !kept) kept.emplace(*serves);
    }

    handler answer;
    route_table& table;
    lifetime* serves;
    std::string pattern;
    const handler_shape* shape;
    std::shared_ptr<const route_description> text;
    std::shared_ptr<body_wish> wish;
    std::vector<std::shared_ptr<const cors>> policies;
    std::vector<std::string> names;  // once it has ended: matches look at them
    std::optional<lifetime::use> kept;
    list_hook over;  // in over_
    std::uint32_t number = 0;
    std::uint32_t uses = 0;
    method asked;
    const limits& bounds;
    bool ended = false;
  };

  static void on_flush(flushable& self) noexcept;
  void free(route& gone) noexcept;
  [[nodiscard]] const limits& keep(const limits& bounds);

  event_loop& loop_;
  const limits& bounds_;
  /// Those that differ, once each: requests that wait look at them when their route has ended.
  std::deque<limits> other_bounds_;
  lifetime* server_;
  router router_;
  std::uint64_t changes_ = 0;
  bool has_policies_ = false;
  std::vector<std::unique_ptr<route>> routes_;  // by the number that the router gives
  std::vector<std::uint32_t> free_;             // numbers, with room for all
  intrusive_list<route, &route::over> over_;    // ended, and maybe in the midst of a call
};

}  // namespace weft::http
