#include <weft/loop/uring/ring.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <tuple>

#include <weft/base/format.hpp>
#include <weft/loop/kernel_clock.hpp>

namespace weft {
namespace {

constexpr unsigned submission_entries = 1024;
constexpr unsigned completion_entries = 8 * submission_entries;
constexpr unsigned common_flags =
    IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_TASKRUN_FLAG;

struct rung {
  std::string_view name;
  unsigned flags;
};

/// Tried from the top: each needs an older kernel than the one before.
constexpr std::array ladder = {
    rung{"deferred task work, Linux 6.1",
         common_flags | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN},
    rung{"cooperative task work, Linux 6.0", common_flags | IORING_SETUP_COOP_TASKRUN},
};

/// Rings that have ended. liburing maps and unmaps by system calls of its own, which
/// ThreadSanitizer does not see: counting them tells it that a ring at the address of an earlier
/// one, of another thread, comes after that.
std::atomic<unsigned> ended_rings{0};

}  // namespace

ring::~ring() {
  if (!open_) return;
  ended_rings.fetch_add(1, std::memory_order_release);
  io_uring_queue_exit(&ring_);
}

result<void> ring::open(std::string& why) {
  int code = 0;
  for (const rung& step : ladder) {
    io_uring_params parameters{};
    parameters.flags = step.flags;
    parameters.cq_entries = completion_entries;
    code = -io_uring_queue_init_params(submission_entries, &ring_, &parameters);
    if (code == 0) {
      open_ = true;
      std::ignore = ended_rings.load(std::memory_order_acquire);
      mode_ = step.name;
      // Spares the kernel a look-up of the ring's file at every call; a refusal costs only that.
      io_uring_register_ring_fd(&ring_);
      return {};
    }
    if (code != EINVAL) break;
  }
  why = weft::format("io_uring_setup: {}", std::generic_category().message(code));
  return fail(code == EINVAL || code == ENOSYS ? error{errc::unsupported, code}
                                               : error::from_errno(code));
}

io_uring_sqe& ring::prepare() noexcept {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  while (entry == nullptr) {
    io_uring_submit(&ring_);
    entry = io_uring_get_sqe(&ring_);
  }
  return *entry;
}

bool ring::kernel_has_work() noexcept {
  constexpr unsigned wants_entry = IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW;
  return has_entries() || (IO_URING_READ_ONCE(*ring_.sq.kflags) & wants_entry) != 0;
}

void ring::enter(time_point until) noexcept {
  if (io_uring_cq_ready(&ring_) != 0) until = time_point::min();
  if (until == time_point::min()) {
    if (kernel_has_work()) io_uring_submit_and_get_events(&ring_);
    return;
  }
  io_uring_cqe* first = nullptr;
  if (until == time_point::max()) {
    io_uring_submit_and_wait_timeout(&ring_, &first, 1, nullptr, nullptr);
    return;
  }
  const duration left = kernel_clock::left_until(until);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  __kernel_timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
  io_uring_submit_and_wait_timeout(&ring_, &first, 1, &timeout, nullptr);
}

}  // namespace weft
