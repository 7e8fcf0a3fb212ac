// The middlewares around everything that a server answers.
//
// Problem: preflights, access logs and rate limits are about requests without a route as well; and
// a service whose middleware it is may end while a request waits inside of it. Contract: internal
// to http. The first that was added is the outermost, and the innermost calls what the chain was
// made with. A middleware ends with its owner: later requests pass it by. It, and its service, are
// kept for requests that wait, each of which holds a use; one that ends within a call of its own
// goes by the end of the turn. Passing through allocates nothing. Ends after all uses. One shard.
//
//   outer_chain chain{loop, [](exchange& e) { answer(e); }};
//   chain.add(make_middleware(f), lifetime::current());
//   if (!chain.empty()) chain.enter(e);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/base/intrusive_list.hpp>
#include <weft/http/middleware.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/service/lifetime.hpp>

namespace weft::http {

struct cors_question;

class outer_chain : private flushable {
 public:
  outer_chain(event_loop& loop, handler innermost) noexcept;
  outer_chain(const outer_chain&) = delete;
  outer_chain& operator=(const outer_chain&) = delete;
  ~outer_chain();

  /// Ends with `owner`; nullptr: with the chain. `policy`: what it is, if it is one.
  void add(middleware around, lifetime* owner, std::shared_ptr<const cors> policy = nullptr);

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  /// What the outermost makes of it. Not for an empty chain.
  void enter(exchange& e) { first_->around(e, first_->next); }

  [[nodiscard]] bool has_policies() const noexcept;
  /// The fields that its policies have for a reply, as lines.
  void append_cors_fields(const cors_question& asked, std::string& lines) const;

  /// While a request waits that has entered.
  class [[nodiscard]] use {
   public:
    explicit use(outer_chain& in) noexcept;
    use(const use&) = delete;
    use& operator=(const use&) = delete;
    ~use();

   private:
    friend class outer_chain;
    outer_chain& in_;
    std::uint64_t number_;
    list_hook hook_;
  };

 private:
  struct link final : registration {
    link(outer_chain& of, middleware call, lifetime* owner, std::shared_ptr<const cors> is)
        : registration{&on_end},
          around{std::move(call)},
          policy{std::move(is)},
          next{[this](exchange& e) { pass_on(e); }},
          chain{of},
          serves{owner} {}
    static void on_end(registration& self) noexcept;
    void pass_on(exchange& e) {
      if (inner != nullptr)
        inner->around(e, inner->next);
      else
        chain.innermost_(e);
    }
    void keep_service() {
      if (serves != nullptr && !kept) kept.emplace(*serves);
    }

    middleware around;
    std::shared_ptr<const cors> policy;
    handler next;
    link* inner = nullptr;  // of one that has ended: what was, which is kept as long as this
    outer_chain& chain;
    lifetime* serves;
    std::optional<lifetime::use> kept;
    std::optional<std::uint64_t> over_after;  // of one that has ended: uses before this hold it
  };

  static void on_flush(flushable& self) noexcept;
  [[nodiscard]] bool is_held(const link& ended) noexcept;

  event_loop& loop_;
  handler innermost_;
  link* first_ = nullptr;
  std::vector<std::unique_ptr<link>> links_;
  std::vector<std::unique_ptr<link>> ended_;  // with room for all
  intrusive_list<use, &use::hook_> uses_;     // the oldest first
  std::uint64_t next_use_ = 0;
};

}  // namespace weft::http
