// System calls that files of databases need, and that SQLite makes long after the start.
//
// Problem: a container's policy (seccomp) may refuse single calls. The first write would fail then,
// or a database could not be opened, as if the disk were at fault. Contract: makes each call once,
// so that it does nothing (needed_calls.hpp), and returns those that are refused. Any thread.
//
//   for (const refused_call& each : find_refused_file_calls()) log::error(each.message());
#pragma once

#include <vector>

#include <weft/loop/needed_calls.hpp>

namespace weft::store::sqlite {

[[nodiscard]] std::vector<refused_call> find_refused_file_calls();

}  // namespace weft::store::sqlite
