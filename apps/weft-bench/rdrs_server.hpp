// The server of `weft-bench rdrs`: what the RonDB REST server does to a batch of reads, in steps.
//
// Problem: a whole request is parsing, storing, checking, looking up and writing, and a comparison
// of whole requests does not say which of them is fast. Contract: each path does one step more
// than the one before, and answers with what only that could know: GET /ping; POST /walk looks at
// every string, and keeps none; /read fills structs that own them; /check does, and applies the
// API's rules; /write gives the operations back; /rows looks them up in memory. The first three
// answer with a summary (rdrs_summary.hpp). docs/benchmarks.md compares others that do the same.
//
//   weft-bench rdrs --listen 127.0.0.1:8080 --backend epoll
#pragma once

namespace weft::bench {

/// Serves until SIGINT or SIGTERM; the program's words behind "rdrs". Gives the exit code.
int run_rdrs_server(int argc, char** argv);

}  // namespace weft::bench
