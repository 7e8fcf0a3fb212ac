// SQLite itself, made ready once for this process.
//
// Problem: as it comes, each allocation of SQLite takes a lock that all threads share, and is one
// of malloc's; each look-up makes two or three. Contract: before the first connection, its memory
// statistics are switched off, and blocks of up to 1 KiB are kept by each thread for the next who
// asks, some KiB of each size at most; what a thread takes counts for its memory_budget.hpp. In a
// program that has used SQLite before, all that stays as it was, no budget counts, and the log says
// so. Its reads go by nowait_reads.hpp from then on. Any thread.
//
//   prepare_library();
#pragma once

namespace weft::store::sqlite {

void prepare_library();

}  // namespace weft::store::sqlite
