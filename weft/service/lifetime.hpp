// What ends with a service: the handlers, routes and timers it has registered, and its tasks.
//
// Problem: a service registers itself with others, which outlive it, and forgets to take itself
// out; then a call finds nobody. Contract: each service has a lifetime, which it gets by asking for
// a `lifetime&` in its constructor. While a constructor runs, and a start() up to its first wait,
// current() is the lifetime of that service, so that what is registered meanwhile belongs to it;
// after a wait a start() says whose it is, by the `lifetime&` it has. What is registered without a
// lifetime ends with whom it was registered with. request_end() takes all registrations out, the
// newest first, and asks the tasks to stop; ended() waits until tasks and uses are over; only then
// may the service be destroyed. One shard; nothing here is thread safe.
//
//   explicit ticker(event_bus& events, lifetime& own) {
//     events.on<order>([this](const order& o) { ... });  // ends with this ticker
//     own.spawn(tick());                                 // and so does this task
//   }
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include <weft/base/intrusive_list.hpp>
#include <weft/coro/task.hpp>

namespace weft {

class lifetime;

/// A part of what others keep for a service: a handler, a route. Taken out when destroyed, and
/// before its function runs, which takes the part out of whatever holds it, and may destroy it.
class registration {
 public:
  using function = void (*)(registration&) noexcept;

  explicit registration(function end) noexcept : end_{end} {}
  registration(const registration&) = delete;
  registration& operator=(const registration&) = delete;
  ~registration() { detach(); }

  /// The service has taken it back itself: its lifetime forgets it.
  void detach() noexcept {
    if (hook_.is_linked()) hook_.unlink();
    owner_ = nullptr;
  }
  /// Whose it is; nullptr: nobody's.
  [[nodiscard]] lifetime* owner() const noexcept { return owner_; }

 private:
  friend class lifetime;
  function end_;
  lifetime* owner_ = nullptr;
  list_hook hook_;
};

class lifetime {
 public:
  /// `name`, for messages, outlives it.
  explicit lifetime(const std::string_view& name) noexcept;
  lifetime(const lifetime&) = delete;
  lifetime& operator=(const lifetime&) = delete;
  /// Ends the registrations that are left. Asserts that no task and no use is.
  ~lifetime();

  /// Of the service whose constructor or start() runs on this thread; nullptr: of none.
  [[nodiscard]] static lifetime* current() noexcept;

  /// Makes a lifetime the current one while it lives.
  class [[nodiscard]] making {
   public:
    explicit making(lifetime& made) noexcept;
    making(const making&) = delete;
    making& operator=(const making&) = delete;
    ~making();

   private:
    lifetime* before_;
  };

  /// Says that a call into the service is under way, for who calls it from a task of its own: the
  /// service is not destroyed before. Ends before the lifetime does.
  class [[nodiscard]] use {
   public:
    explicit use(lifetime& used);
    use(use&& other) noexcept : used_{std::exchange(other.used_, nullptr)} {}
    use& operator=(use&&) = delete;
    ~use();

   private:
    lifetime* used_;
  };

  /// Takes the memory of the first use, so that none after this can fail.
  void prepare_use() { static_cast<void>(work()); }

  /// Ends `part` when this ends.
  void attach(registration& part) noexcept;

  /// Runs `work` as a task of the service, on the loop of this thread: asked to stop when the
  /// service is, not before. An exception that leaves it is logged, and the service goes on.
  void spawn(task<void> work);
  /// As scope::spawn() of a function: keeps it, and the captures of a lambda, until its task ends.
  template <detail::makes_task F>
  void spawn(F work) {
    spawn(detail::call_kept(std::move(work)));
  }

  [[nodiscard]] std::string_view name() const noexcept { return *name_; }
  /// Whether no task and no use is left.
  [[nodiscard]] bool idle() const noexcept;

  /// Asks the tasks to stop, and those spawned later.
  void stop_tasks() noexcept;
  /// As stop_tasks(), and ends the registrations: from now on nobody calls the service.
  void request_end() noexcept;
  /// Until idle(); a stop request or a deadline does not cut it short, since what goes on needs the
  /// service. One waiter at a time.
  [[nodiscard]] task<void> ended();
  /// For who makes the service anew: as request_end(), and then as if it had never had a task.
  /// Asserts idle().
  void renew() noexcept;

 private:
  struct work_in_progress;
  [[nodiscard]] work_in_progress& work();

  const std::string_view* name_;
  intrusive_list<registration, &registration::hook_> parts_;
  std::unique_ptr<work_in_progress> work_;  // made for the first task or use
};

}  // namespace weft
