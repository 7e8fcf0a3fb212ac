#include <weft/store/sqlite/queued_write.hpp>

#include <weft/base/format.hpp>
#include <weft/store/sqlite/engine_counts.hpp>
#include <weft/store/sqlite/writer.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::string_view nobody_knows =
    "memory or the disk failed while it was committed, so that nobody knows whether the batch was "
    "done: look before you write it again";

}  // namespace

bool queued_write::begin(std::coroutine_handle<> waiting, const environment& env) {
  if (env.stop.stop_requested()) return refuse(errc::cancelled);
  if (env.until.passed(home_.now())) return refuse(errc::timed_out);
  if (!home_.has_threads()) {
    queued_write* const alone = this;
    by_.write_here({&alone, 1});
    return false;
  }
  waiting_ = waiting;
  asked_at_ = home_.now();
  if (const auto taken = by_.submit(*this); !taken) return refuse(taken.error());
  env.stop.subscribe(*this);
  if (!env.until.is_never()) home_.timers().arm(*this, env.until.when());
  return true;
}

bool queued_write::refuse(error why) noexcept {
  refusal_ = why;
  return false;
}

void queued_write::give_up(errc why) noexcept {
  is_given_up_.store(true, std::memory_order_relaxed);
  if (!by_.take_back(*this)) return;  // it is being written
  refusal_ = why;
  home_.schedule(*this);
}

void queued_write::on_stop(stop_registration& self) noexcept {
  static_cast<queued_write&>(self).give_up(errc::cancelled);
}

void queued_write::on_deadline(timer& self) noexcept {
  static_cast<queued_write&>(self).give_up(errc::timed_out);
}

void queued_write::on_run(runnable& self) noexcept {
  auto& batch = static_cast<queued_write&>(self);
  batch.stop_registration::disarm();
  batch.home_.timers().disarm(batch);
  detail::resume(batch.waiting_);
}

void queued_write::begin_commit() noexcept {
  if (stage_ == stage::undone && !is_stale_) stage_ = stage::committing;
}

void queued_write::settle() noexcept { stage_ = stage::settled; }

void queued_write::run_out_of_memory() noexcept {
  if (stage_ == stage::undone) refusal_ = errc::exhausted;
}

void queued_write::tell(engine_counts& counts, write_sink& to) const {
  if (stage_ == stage::committing) {
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      counts.failed(failure_kind::unknown);
      to.failed(i, {failure_kind::unknown, nobody_knows, true});
    }
    return;
  }
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const write_outcome& each = outcomes_[i];
    switch (each.is) {
      case write_outcome::kind::done:
        counts.writes.add();
        to.done(i);
        break;
      case write_outcome::kind::missing: to.missing(i); break;
      case write_outcome::kind::failed:
        counts.failed(each.why);
        to.failed(i, {.kind = each.why, .message = each.message, .is_of_all = each.is_of_all});
        break;
    }
  }
}

void queued_write::fail_all(failure_kind why, std::string_view message,
                            std::optional<std::size_t> culprit) {
  const std::string others =
      culprit ? weft::format("not done, since operation {} of the batch failed", *culprit)
              : std::string{message};
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const bool is_other = culprit && *culprit != i;
    outcomes_[i] = {.is = write_outcome::kind::failed,
                    .why = is_other ? failure_kind::rolled_back : why,
                    .message = is_other ? others : std::string{message},
                    .is_of_all = !culprit};
  }
}

}  // namespace weft::store::sqlite
