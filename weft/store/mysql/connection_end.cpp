#include <poll.h>

#include <mariadb/mysql.h>

#include <weft/store/mysql/connection.hpp>

namespace weft::store::mysql {

/// Looks for the end alone, and not for bytes: TLS may have sent some that nobody has read yet.
bool connection::has_ended() const noexcept {
  pollfd seen{.fd = mysql_get_socket(handle_), .events = POLLRDHUP, .revents = 0};
  return ::poll(&seen, 1, 0) > 0;
}

}  // namespace weft::store::mysql
