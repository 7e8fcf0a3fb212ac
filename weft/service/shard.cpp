#include <weft/service/shard.hpp>

#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log_parts.hpp>
#include <weft/loop/sleep.hpp>

namespace weft {
namespace {

constexpr duration memory_pause = std::chrono::milliseconds{10};

}  // namespace

shard::shard(unsigned index, std::unique_ptr<event_loop> loop, duration stop_timeout)
    : index_{index}, loop_{std::move(loop)}, stop_timeout_{stop_timeout} {
  services_.provide(*loop_);
}

shard::~shard() = default;

bool shard::run(reports tell) {
  loop_->spawn(live(std::move(tell)));
  try {
    loop_->run();
  } catch (const std::exception& why) {
    log::error_of({"a task of this shard threw: ", why.what()});
    clean_ = false;
  }
  return clean_;
}

task<void> shard::live(reports tell) {
  // Starting and stopping heed deadlines of their own, not the stop request that ends the time
  // between them.
  environment own{.runs_on = loop_.get()};
  task<bool> stopped = stop_services();  // made now: there may be no memory for it then
  bool is_up = false;
  try {
    is_up = (co_await services_.start().in(own)).has_value();
  } catch (const std::exception& why) {
    log::error_of({"the services did not start: ", why.what()});
  }
  phase_ = phase::running;
  tell.started(is_up);
  if (is_up) {
    co_await until_stopped{*loop_};
    try {
      tell.stopping(services_.connections());
    } catch (const std::bad_alloc&) {
      log::error("out of memory: cannot log how many connections are open");
    }
  }
  phase_ = phase::stopping;
  own.until = deadline::at(loop_->now() + stop_timeout_);
  clean_ = co_await std::move(stopped).in(own) && is_up;
  phase_ = phase::ending;
}

/// Retries while there is no memory: nothing may refer to a service that has been destroyed.
task<bool> shard::stop_services() {
  for (bool is_first = true;; is_first = false) {
    try {
      const auto stopped = co_await services_.stop();
      if (!stopped)
        log::warning(weft::format("services did not stop cleanly: {}", stopped.error().message()));
      const bool is_clean = stopped.has_value() && is_first;
      co_return is_clean;
    } catch (const std::bad_alloc&) {
      log::error("out of memory: the services cannot be stopped yet, trying again");
    }
    // After stop_timeout this returns at once; a forced end of the process bounds the retries.
    static_cast<void>(co_await sleep_for(*loop_, memory_pause));
  }
}

void shard::reload() {
  const auto posted = loop_->post([this] { services_.reload(); });
  if (!posted)
    log::error(weft::format("shard {} has too much to do to read files again, ask once more: {}",
                            index_, posted.error().message()));
}

std::string shard::progress() const {
  const auto waits = [this](std::string_view what) {
    return weft::format("shard {} {}", index_, what);
  };
  switch (phase_.load()) {
    case phase::starting: return waits("is still starting its services");
    case phase::running:
      return waits("has not heard that it is to stop: something keeps its thread");
    case phase::ending: return waits("waits for tasks that services left behind");
    case phase::stopping: break;
  }
  return waits(weft::format("waits for {} to stop", services_.stopping()));
}

}  // namespace weft
