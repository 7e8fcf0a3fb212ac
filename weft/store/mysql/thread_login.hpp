// Logs in by TLS, on a thread that may wait.
//
// Problem: MariaDB Connector/C shakes hands in one go, and waits in poll() for as long as the
// server is silent, also in its non-blocking calls. Contract: a thread of blocking() does the whole
// login, within the deadline of the task, and ends it where the task is asked to stop; meanwhile
// the loop goes on. Then the connection is the loop's: reading and writing go through TLS without
// waiting.
//
//   const auto seen = co_await log_in_by_thread(handle, as, &connected);
#pragma once

#include <weft/base/result.hpp>
#include <weft/coro/borrowing_task.hpp>

struct st_mysql;

namespace weft::store::mysql {

class login;

/// `handle` is prepared by `as`; nobody else touches it until then. `connected`: as
/// mysql_real_connect() gives it. errc::cancelled, errc::timed_out: it was cut off.
/// errc::limit_exceeded: too many calls wait for a thread. errc::exhausted: no memory for it.
[[nodiscard]] borrowing_task<result<void>> log_in_by_thread(st_mysql* handle,
                                                            const login& as WEFT_LIFETIME_BOUND,
                                                            st_mysql** connected);

}  // namespace weft::store::mysql
