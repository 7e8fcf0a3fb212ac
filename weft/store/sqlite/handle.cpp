#include <weft/store/sqlite/handle.hpp>

#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/store/sqlite/library.hpp>

namespace weft::store::sqlite {
namespace {

/// Of SQLITE_ERROR, which SQLite has many reasons for and one word.
std::string_view advice_for_error(std::string_view reason) noexcept {
  for (const char* const unknown : {"no such collation", "no such function", "unknown function",
                                    "no such module", "wrong number of arguments"})
    if (reason.contains(unknown))
      return "this program has SQLite's own collations, functions and modules alone: make the "
             "table, its indexes and triggers without it, or ask for columns that need it not";
  if (reason.starts_with("no such "))
    return "the schema names what is not there: make it, or change the trigger or the column that "
           "names it";
  return "see sqlite.org/rescode.html";
}

std::string_view advice_for(int code) noexcept {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: return "another program writes to it: try again";
    case SQLITE_PERM:
    case SQLITE_READONLY: return "let this program's user write to the file and to its folder";
    case SQLITE_FULL:
      return "free some space on its volume, or raise its bound: a quota, max_page_count, ulimit "
             "-f";
    case SQLITE_CORRUPT: return "restore it from a copy; `PRAGMA integrity_check` tells more";
    case SQLITE_NOTADB: return "put a SQLite database there, or take the file away";
    case SQLITE_CANTOPEN:
      return "see to it that file and folder exist and can be opened, and written to if the "
             "database "
             "is in WAL mode";
    case SQLITE_IOERR: return "look for faults of the disk in the system's log";
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH: return "send a row that keeps to the table's rules";
    case SQLITE_NOMEM: return "try again, or give this program more memory";
    case SQLITE_SCHEMA: return "the schema has changed meanwhile: try again";
    case SQLITE_TOOBIG: return "send, and ask for, values of less than 1 GB";
    default: return "see sqlite.org/rescode.html";
  }
}

/// ", Permission denied", where the system has said why a file cannot be opened or read.
std::string system_cause(sqlite3* of, int code) {
  const int kind = code & 0xff;
  if (of == nullptr || (kind != SQLITE_CANTOPEN && kind != SQLITE_IOERR)) return {};
  const int why = sqlite3_system_errno(of);
  return why == 0 ? std::string{} : ", " + std::generic_category().message(why);
}

/// Clients are told, too, and need not know of folders.
std::string_view file_name(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

int flags_for(access how) noexcept {
  switch (how) {
    case access::read_only: return SQLITE_OPEN_READONLY;
    case access::read_write: return SQLITE_OPEN_READWRITE;
    case access::create: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
  return SQLITE_OPEN_READONLY;
}

}  // namespace

std::expected<file_identity, int> identify(const std::string& path) noexcept {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return std::unexpected{errno};
  return identity_in(found);
}

std::expected<connection, std::string> connection::open(const std::string& path, access how) {
  prepare_library();
  // SQLite would wait for who writes to a FIFO.
  struct stat found{};
  if (::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode))
    return std::unexpected{
        weft::format("{}: it is no regular file: put a SQLite database there, or take it away",
                     file_name(path))};
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags_for(how) | SQLITE_OPEN_NOMUTEX,
                                   open_files_vfs());
  connection made{handle, path};
  if (code != SQLITE_OK) return std::unexpected{made.describe(code)};
  sqlite3_extended_result_codes(handle, 1);
  made.files_ = file_watch{handle, path};
  if (made.identity() == file_identity{}) return std::unexpected{made.describe(SQLITE_CANTOPEN)};
  return made;
}

int connection::run(const char* sql) noexcept {
  return sqlite3_exec(get(), sql, nullptr, nullptr, nullptr);
}

statement connection::prepare(std::string_view sql) noexcept {
  sqlite3_stmt* made = nullptr;
  // Where it fails `made` is nullptr, and the connection knows why.
  sqlite3_prepare_v3(get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                     &made, nullptr);
  return statement{made};
}

std::expected<std::int64_t, int> connection::number(const char* sql) noexcept {
  const statement query = prepare(sql);
  if (query == nullptr) return std::unexpected{sqlite3_extended_errcode(get())};
  const int code = sqlite3_step(query.get());
  if (code != SQLITE_ROW) return std::unexpected{code == SQLITE_DONE ? SQLITE_ERROR : code};
  return sqlite3_column_int64(query.get(), 0);
}

std::string connection::describe(int code) const {
  const bool is_last = get() != nullptr && (sqlite3_errcode(get()) & 0xff) == (code & 0xff);
  const char* const reason = is_last ? sqlite3_errmsg(get()) : sqlite3_errstr(code);
  const bool is_any_error = (code & 0xff) == SQLITE_ERROR;
  return weft::format("{}: {} (SQLite's code {}{}): {}", file_name(path_), reason, code,
                      is_last ? system_cause(get(), code) : std::string{},
                      is_any_error ? advice_for_error(reason) : advice_for(code));
}

failure_kind kind_of(int code) noexcept {
  switch (code) {
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
    case SQLITE_CONSTRAINT_UNIQUE: return failure_kind::duplicate_key;
    case SQLITE_ERROR_MISSING_COLLSEQ: return failure_kind::unsupported;
    case SQLITE_IOERR_NOMEM: return failure_kind::no_memory;
    default: break;
  }
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: return failure_kind::busy;
    case SQLITE_NOMEM: return failure_kind::no_memory;
    case SQLITE_SCHEMA: return failure_kind::schema_changed;
    case SQLITE_PERM:
    case SQLITE_READONLY: return failure_kind::read_only;
    case SQLITE_FULL: return failure_kind::full;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return failure_kind::corrupt;
    case SQLITE_IOERR:
    case SQLITE_NOLFS:
    case SQLITE_CANTOPEN: return failure_kind::input_output;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG: return failure_kind::constraint;
    default: return failure_kind::other;
  }
}

failure_kind kind_of_refused(int code) noexcept {
  return (code & 0xff) == SQLITE_ERROR ? failure_kind::unsupported : kind_of(code);
}

}  // namespace weft::store::sqlite
