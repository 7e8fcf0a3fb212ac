#include <weft/store/mysql/thread_login.hpp>

#include <sys/socket.h>

#include <mariadb/mysql.h>

#include <weft/coro/stop_token.hpp>
#include <weft/loop/blocking.hpp>
#include <weft/store/mysql/login.hpp>
#include <weft/store/mysql/thread_wait.hpp>

namespace weft::store::mysql {
namespace {

constinit thread_local thread_wait* of_this_thread = nullptr;

/// What the library calls where it would wait within a handshake. Where nobody is on a thread that
/// may, it is to give up rather than to keep a loop.
int wait_in_handshake(my_socket fd, my_bool to_read, int /*timeout*/) {
  return of_this_thread != nullptr && of_this_thread->ready(fd, to_read != 0) ? 1 : 0;
}

void connect_waiting(MYSQL** connected, MYSQL* handle, const login& as, thread_wait& patience) {
  of_this_thread = &patience;
  int status = as.start(connected, handle);
  while (status != 0) {
    const int fd = mysql_get_socket(handle);
    const int wanted = status & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE);
    if (patience.ready(fd, (status & MYSQL_WAIT_READ) != 0)) {
      status = mysql_real_connect_cont(connected, handle, wanted);
    } else {
      ::shutdown(fd, SHUT_RDWR);  // one that has ended already is what is wanted
      status = mysql_real_connect_cont(connected, handle, wanted | MYSQL_WAIT_TIMEOUT);
    }
  }
  of_this_thread = nullptr;
}

}  // namespace

borrowing_task<result<void>> log_in_by_thread(MYSQL* handle, const login& as, MYSQL** connected) {
  if (mysql_optionsv(handle, MARIADB_OPT_IO_WAIT, &wait_in_handshake) != 0)
    co_return fail(errc::exhausted);
  const environment& env = co_await this_task::environment();
  thread_wait patience{env.until};
  const stop_callback off{env.stop, [&patience] { patience.call_off(); }};
  const auto ran = co_await blocking([&] { connect_waiting(connected, handle, as, patience); });
  if (!ran) co_return ran;
  co_return *connected != nullptr ? result<void>{} : patience.failure();
}

}  // namespace weft::store::mysql
