// Asking work to stop, on one shard: std::stop_token without its atomics, its heap block and its
// locks.
//
// Contract: a stop_source owns the list of those who want to hear of the request; a stop_token is a
// pointer to it and must not outlive it (scopes see to that: they outlive their tasks). Callbacks
// run once, inside request_stop(), in the order of registration, and may register or end callbacks
// while they run. Registering and ending cost O(1) and never allocate. Not thread safe: other
// threads post to the loop first.
//
//   stop_source source{parent_token};
//   stop_callback on_stop{source.token(), [&] { loop.cancel(operation); }};
//   source.request_stop();
#pragma once

#include <utility>

#include <weft/base/intrusive_list.hpp>

namespace weft {

class stop_source;

/// A registration. Unlinked when destroyed, and before its callback runs.
class stop_registration {
 public:
  using function = void (*)(stop_registration&) noexcept;

  explicit stop_registration(function f) noexcept : invoke_{f} {}
  stop_registration(const stop_registration&) = delete;
  stop_registration& operator=(const stop_registration&) = delete;
  ~stop_registration() { disarm(); }

  void disarm() noexcept {
    if (hook.is_linked()) hook.unlink();
  }

  void notify() noexcept { invoke_(*this); }

  list_hook hook;

 private:
  function invoke_;
};

/// Whether, and whom to ask. A default-constructed token is never stopped.
class stop_token {
 public:
  stop_token() noexcept = default;

  [[nodiscard]] bool stop_requested() const noexcept;
  [[nodiscard]] bool stop_possible() const noexcept { return source_ != nullptr; }

  /// `registration` is notified when stop is requested; it is the caller's to have checked
  /// stop_requested() before.
  void subscribe(stop_registration& registration) const noexcept;

 private:
  friend class stop_source;
  explicit stop_token(stop_source* source) noexcept : source_{source} {}
  stop_source* source_ = nullptr;
};

class stop_source {
 public:
  stop_source() noexcept : upstream_{&on_upstream} {}
  /// Stops when `parent` does, at once if it already has.
  explicit stop_source(stop_token parent) noexcept : stop_source{} { follow(parent); }
  stop_source(const stop_source&) = delete;
  stop_source& operator=(const stop_source&) = delete;

  /// Runs the callbacks. Returns false if stop had been requested before.
  bool request_stop() noexcept;

  [[nodiscard]] bool stop_requested() const noexcept { return requested_; }
  [[nodiscard]] stop_token token() noexcept { return stop_token{this}; }

 private:
  friend class stop_token;
  /// The registration upstream, with the way back from it to its source.
  struct upstream_registration : stop_registration {
    using stop_registration::stop_registration;
    stop_source* owner = nullptr;
  };

  void follow(stop_token parent) noexcept;
  static void on_upstream(stop_registration& registration) noexcept;

  intrusive_list<stop_registration, &stop_registration::hook> registrations_;
  upstream_registration upstream_;
  bool requested_ = false;
};

inline bool stop_token::stop_requested() const noexcept {
  return source_ != nullptr && source_->requested_;
}

inline void stop_token::subscribe(stop_registration& registration) const noexcept {
  if (source_ != nullptr) source_->registrations_.push_back(registration);
}

/// Calls `f` when stop is requested; at once, in the constructor, if it already was.
template <class F>
class stop_callback : private stop_registration {
 public:
  stop_callback(stop_token token, F f) noexcept
      : stop_registration{&call}, function_{std::move(f)} {
    if (token.stop_requested())
      function_();
    else
      token.subscribe(*this);
  }

 private:
  static void call(stop_registration& self) noexcept {
    static_cast<stop_callback&>(self).function_();
  }
  F function_;
};

}  // namespace weft
