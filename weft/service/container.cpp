#include <weft/service/container.hpp>

#include <algorithm>
#include <exception>
#include <format>
#include <stdexcept>
#include <string>

#include <weft/base/log.hpp>

namespace weft {

struct container::entry {
  std::string_view type;
  factory make;
  instance made;
};

namespace {

/// A dependency that cannot be had, thrown through the constructors that wait for it.
class unresolved : public std::logic_error {
 public:
  unresolved(errc why, const std::string& message) : std::logic_error{message}, code{why} {}
  errc code;
};

}  // namespace

container::container() = default;

container::~container() {
  while (!made_.empty()) {
    instance& last = made_.back()->made;
    if (last.destroy != nullptr) last.destroy(last.object);
    made_.pop_back();
  }
}

container::entry* container::find_entry(std::string_view type) const noexcept {
  const auto found = std::ranges::find(entries_, type, [](const auto& e) { return e->type; });
  return found == entries_.end() ? nullptr : found->get();
}

void container::insert(std::string_view type, factory make) {
  WEFT_ASSERT(find_entry(type) == nullptr, "a container has one service of a type");
  auto added = std::make_unique<entry>();
  added->type = type;
  added->make = std::move(make);
  entries_.push_back(std::move(added));
}

void container::lend(std::string_view type, void* object) {
  WEFT_ASSERT(find_entry(type) == nullptr, "a container has one service of a type");
  auto added = std::make_unique<entry>();
  added->type = type;
  added->made.object = object;
  entries_.push_back(std::move(added));
}

void* container::look_up(std::string_view type) const noexcept {
  const entry* found = find_entry(type);
  return found == nullptr ? nullptr : found->made.object;
}

void* container::resolve(std::string_view type) {
  entry* found = find_entry(type);
  if (found == nullptr) throw unresolved{errc::not_found, missing(type)};
  if (found->made.object == nullptr) make(*found);
  return found->made.object;
}

std::string container::path_from(std::size_t outermost) const {
  std::string path;
  for (std::size_t i = outermost; i < making_.size(); ++i)
    path += std::format("{} -> ", making_[i]->type);
  return path;
}

std::string container::missing(std::string_view type) const {
  const std::string_view consumer = making_.empty() ? "the program" : making_.back()->type;
  std::string text =
      std::format("{} needs {}, which nobody provides: add<{}>() is missing", consumer, type, type);
  if (making_.size() > 1) text += std::format(" ({}{})", path_from(0), type);
  return text;
}

void container::make(entry& wanted) {
  const auto circle = std::ranges::find(making_, &wanted);
  if (circle != making_.end()) {
    throw unresolved{
        errc::invalid_argument,
        std::format("services need each other in a circle: {}{}",
                    path_from(static_cast<std::size_t>(circle - making_.begin())), wanted.type)};
  }
  making_.push_back(&wanted);
  try {
    wanted.made = wanted.make(*this);
  } catch (const unresolved&) {
    making_.pop_back();
    throw;
  } catch (const std::exception& why) {
    const std::string path = path_from(0);
    making_.pop_back();
    throw unresolved{
        errc::invalid_argument,
        std::format("{} cannot be made: {}", path.substr(0, path.rfind(" -> ")), why.what())};
  }
  making_.pop_back();
  made_.push_back(&wanted);
}

result<void> container::make_all() {
  try {
    for (const auto& each : entries_)
      if (each->made.object == nullptr) make(*each);
    return {};
  } catch (const unresolved& why) {
    log::error(why.what());
    return fail(why.code);
  }
}

/// A start() or stop() that throws has failed, like one that says so: the others still have their
/// turn.
task<result<void>> container::call(std::string_view type, task<result<void>> work) {
  try {
    co_return co_await std::move(work);
  } catch (const std::exception& why) {
    log::error(std::format("{} threw: {}", type, why.what()));
  } catch (...) {
    log::error(std::format("{} threw something that is no std::exception", type));
  }
  co_return fail(errc::unavailable);
}

task<result<void>> container::start() {
  if (const auto made = make_all(); !made) co_return made;
  for (; started_ < made_.size(); ++started_) {
    const entry& next = *made_[started_];
    if (next.made.start == nullptr) continue;
    const auto up = co_await call(next.type, next.made.start(next.made.object));
    if (up) continue;
    log::error(std::format("{} did not start: {}", next.type, up.error().message()));
    co_return up;
  }
  co_return result<void>{};
}

std::string_view container::stopping() const noexcept {
  const entry* now = stopping_.load(std::memory_order_acquire);
  return now == nullptr ? std::string_view{} : now->type;
}

std::optional<std::size_t> container::connections() const {
  std::optional<std::size_t> sum;
  for (const entry* each : made_)
    if (each->made.connections != nullptr)
      sum = sum.value_or(0) + each->made.connections(each->made.object);
  return sum;
}

task<result<void>> container::stop() {
  result<void> outcome;
  while (started_ > 0) {
    const entry& last = *made_[--started_];
    if (last.made.stop == nullptr) continue;
    stopping_.store(&last, std::memory_order_release);
    const auto down = co_await call(last.type, last.made.stop(last.made.object));
    stopping_.store(nullptr, std::memory_order_relaxed);
    if (down) continue;
    log::warning(std::format("{} did not stop cleanly: {}", last.type, down.error().message()));
    if (outcome) outcome = down;
  }
  co_return outcome;
}

}  // namespace weft
