#include <weft/store/sqlite/handle.hpp>

#include <string>

#include <gtest/gtest.h>

namespace weft::store::sqlite {
namespace {

struct meaning {
  int code;
  failure_kind kind;
};

/// All primary codes of sqlite.org/rescode.html that an operation may end with, and the extended
/// ones that mean something else.
constexpr meaning meanings[] = {
    {SQLITE_ERROR, failure_kind::other},
    {SQLITE_ERROR_MISSING_COLLSEQ, failure_kind::unsupported},
    {SQLITE_ERROR_RETRY, failure_kind::other},
    {SQLITE_ERROR_SNAPSHOT, failure_kind::other},
    {SQLITE_INTERNAL, failure_kind::other},
    {SQLITE_PERM, failure_kind::read_only},
    {SQLITE_ABORT, failure_kind::other},
    {SQLITE_ABORT_ROLLBACK, failure_kind::other},
    {SQLITE_BUSY, failure_kind::busy},
    {SQLITE_BUSY_RECOVERY, failure_kind::busy},
    {SQLITE_BUSY_SNAPSHOT, failure_kind::busy},
    {SQLITE_BUSY_TIMEOUT, failure_kind::busy},
    {SQLITE_LOCKED, failure_kind::busy},
    {SQLITE_LOCKED_SHAREDCACHE, failure_kind::busy},
    {SQLITE_NOMEM, failure_kind::no_memory},
    {SQLITE_READONLY, failure_kind::read_only},
    {SQLITE_READONLY_ROLLBACK, failure_kind::read_only},
    {SQLITE_READONLY_CANTINIT, failure_kind::read_only},
    {SQLITE_INTERRUPT, failure_kind::other},
    {SQLITE_IOERR, failure_kind::input_output},
    {SQLITE_IOERR_READ, failure_kind::input_output},
    {SQLITE_IOERR_SHORT_READ, failure_kind::input_output},
    {SQLITE_IOERR_WRITE, failure_kind::input_output},
    {SQLITE_IOERR_FSYNC, failure_kind::input_output},
    {SQLITE_IOERR_SHMMAP, failure_kind::input_output},
    {SQLITE_IOERR_NOMEM, failure_kind::no_memory},
    {SQLITE_CORRUPT, failure_kind::corrupt},
    {SQLITE_CORRUPT_VTAB, failure_kind::corrupt},
    {SQLITE_CORRUPT_INDEX, failure_kind::corrupt},
    {SQLITE_FULL, failure_kind::full},
    {SQLITE_CANTOPEN, failure_kind::input_output},
    {SQLITE_CANTOPEN_ISDIR, failure_kind::input_output},
    {SQLITE_PROTOCOL, failure_kind::busy},
    {SQLITE_SCHEMA, failure_kind::schema_changed},
    {SQLITE_TOOBIG, failure_kind::constraint},
    {SQLITE_CONSTRAINT, failure_kind::constraint},
    {SQLITE_CONSTRAINT_CHECK, failure_kind::constraint},
    {SQLITE_CONSTRAINT_COMMITHOOK, failure_kind::constraint},
    {SQLITE_CONSTRAINT_DATATYPE, failure_kind::constraint},
    {SQLITE_CONSTRAINT_FOREIGNKEY, failure_kind::constraint},
    {SQLITE_CONSTRAINT_FUNCTION, failure_kind::constraint},
    {SQLITE_CONSTRAINT_NOTNULL, failure_kind::constraint},
    {SQLITE_CONSTRAINT_PINNED, failure_kind::constraint},
    {SQLITE_CONSTRAINT_PRIMARYKEY, failure_kind::duplicate_key},
    {SQLITE_CONSTRAINT_ROWID, failure_kind::duplicate_key},
    {SQLITE_CONSTRAINT_TRIGGER, failure_kind::constraint},
    {SQLITE_CONSTRAINT_UNIQUE, failure_kind::duplicate_key},
    {SQLITE_CONSTRAINT_VTAB, failure_kind::constraint},
    {SQLITE_MISMATCH, failure_kind::constraint},
    {SQLITE_MISUSE, failure_kind::other},
    {SQLITE_NOLFS, failure_kind::input_output},
    {SQLITE_AUTH, failure_kind::other},
    {SQLITE_RANGE, failure_kind::other},
    {SQLITE_NOTADB, failure_kind::corrupt},
};

TEST(sqlite_result_codes, mean_a_kind_of_failure_each) {
  for (const auto& [code, kind] : meanings) EXPECT_EQ(kind_of(code), kind) << sqlite3_errstr(code);
}

TEST(sqlite_result_codes, of_a_statement_that_is_not_prepared_are_of_the_schema) {
  for (const auto& [code, kind] : meanings) {
    const bool is_error = (code & 0xff) == SQLITE_ERROR;
    EXPECT_EQ(kind_of_refused(code), is_error ? failure_kind::unsupported : kind)
        << sqlite3_errstr(code);
  }
}

}  // namespace
}  // namespace weft::store::sqlite
