// MariaDB Connector/C itself, made ready once for this process.
//
// Contract: before the first connection. OpenSSL's part of it has the process ignore SIGPIPE where
// it had no other will, as weft's applications do anyhow. Any thread.
//
//   if (auto ready = prepare_library(); !ready) return ready;
#pragma once

#include <weft/base/result.hpp>

namespace weft::store::mysql {

/// errc::exhausted: there is no memory for it.
[[nodiscard]] result<void> prepare_library();

}  // namespace weft::store::mysql
