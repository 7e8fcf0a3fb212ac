#include <weft/store/sqlite/scan_line.hpp>

#include <weft/loop/blocking.hpp>

namespace weft::store::sqlite {

task<result<void>> scan_line::run(scan_slice& slice) {
  if (const auto turn = co_await free_.acquire(); !turn) co_return fail(turn.error());
  struct giving_back {
    semaphore& to;
    ~giving_back() { to.release(); }
  } const turn{free_};
  co_return co_await blocking([&slice] { slice.run(); });
}

}  // namespace weft::store::sqlite
