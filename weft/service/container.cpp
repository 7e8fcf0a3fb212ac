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
  bool is_being_made = false;
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
  if (found == nullptr) {
    const std::string_view consumer = making_.empty() ? "the program" : making_.back()->type;
    throw unresolved{errc::not_found, std::format("{} needs {}, which nobody provides: add<{}>() is missing",
                                                  consumer, type, type)};
  }
  if (found->made.object == nullptr) make(*found);
  return found->made.object;
}

void container::make(entry& wanted) {
  const auto circle = std::ranges::find(making_, &wanted);
  if (circle != making_.end()) {
    std::string path;
    for (auto step = circle; step != making_.end(); ++step) path += std::format("{} -> ", (*step)->type);
    throw unresolved{errc::invalid_argument, std::format("services need each other in a circle: {}{}", path, wanted.type)};
  }
  making_.push_back(&wanted);
  wanted.made = wanted.make(*this);
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
    making_.clear();
    return fail(why.code);
  } catch (const std::exception& why) {
    log::error(std::format("{} cannot be made: {}", making_.back()->type, why.what()));
    making_.clear();
    return fail(errc::invalid_argument);
  }
}

task<result<void>> container::start() {
  if (const auto made = make_all(); !made) co_return made;
  for (; started_ < made_.size(); ++started_) {
    const entry& next = *made_[started_];
    if (next.made.start == nullptr) continue;
    const auto up = co_await next.made.start(next.made.object);
    if (up) continue;
    log::error(std::format("{} did not start: {}", next.type, up.error().message()));
    co_return up;
  }
  co_return result<void>{};
}

task<result<void>> container::stop() {
  result<void> outcome;
  while (started_ > 0) {
    const entry& last = *made_[--started_];
    if (last.made.stop == nullptr) continue;
    const auto down = co_await last.made.stop(last.made.object);
    if (down) continue;
    log::warning(std::format("{} did not stop cleanly: {}", last.type, down.error().message()));
    if (outcome) outcome = down;
  }
  co_return outcome;
}

}  // namespace weft
