// A process that runs queries in SQL, one after the other, for the one that has started it.
//
// Problem: a call of one of SQLite's functions may take minutes, and a thread cannot be stopped
// within it; a process can. Contract: a program whose main() hands over to serve_queries(), where
// its first argument is `query_subcommand`, may be an engine's query_program; weftd is one. It
// reads one database, in a sandbox (query_sandbox.hpp), by the messages of query_message.hpp, over
// a socket that it was given as descriptor query_channel. It ends when that is closed.
//
//   int main(int argc, char** argv) {
//     if (argc > 1 && argv[1] == sqlite::query_subcommand)
//       return sqlite::serve_queries(argc, argv);
#pragma once

#include <string_view>

namespace weft::store::sqlite {

inline constexpr std::string_view query_subcommand = "query-process";

/// The exit code. `argv` as of main(): the program, query_subcommand, the folder of the databases,
/// the name of one, how many bytes of memory a query may take, and engine_options::busy_timeout in
/// nanoseconds.
[[nodiscard]] int serve_queries(int argc, char** argv);

}  // namespace weft::store::sqlite
