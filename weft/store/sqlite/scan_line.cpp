#include <weft/store/sqlite/scan_line.hpp>

#include <weft/loop/blocking.hpp>

namespace weft::store::sqlite {

result<scan_line::place> scan_line::enter() noexcept {
  if (scans_ == scans_max_) return fail(errc::limit_exceeded);
  ++scans_;
  return place{this};
}

task<result<void>> scan_line::run(scan_slice& slice) {
  if (const auto turn = co_await free_.acquire(); !turn) co_return fail(turn.error());
  struct giving_back {
    semaphore& to;
    ~giving_back() { to.release(); }
  } const turn{free_};
  co_return co_await blocking([&slice] { slice.run(); });
}

}  // namespace weft::store::sqlite
