#include <weft/loop/file_operation.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace weft {
namespace {

std::int32_t call(file_operation& op) noexcept {
  const auto offset = static_cast<off_t>(op.offset);
  switch (op.action) {
    case file_action::open: return ::open(op.path, op.flags, op.mode);
    case file_action::read:
      return static_cast<std::int32_t>(::pread(op.fd, op.data, op.size, offset));
    case file_action::write:
      return static_cast<std::int32_t>(::pwrite(op.fd, op.data, op.size, offset));
    case file_action::size: return ::statx(op.fd, "", AT_EMPTY_PATH, STATX_SIZE, op.about);
    case file_action::sync: return ::fsync(op.fd);
    case file_action::close: return ::close(op.fd);
  }
  errno = EINVAL;
  return -1;
}

}  // namespace

std::int32_t file_operation::perform() noexcept {
  std::int32_t result = 0;
  do result = call(*this);
  while (result < 0 && errno == EINTR && action != file_action::close);
  return result >= 0 ? result : -errno;
}

}  // namespace weft
