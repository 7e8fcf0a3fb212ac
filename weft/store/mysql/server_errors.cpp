#include <weft/store/mysql/server_errors.hpp>

#include <mariadb/errmsg.h>
#include <mariadb/mysqld_error.h>

namespace weft::store::mysql {
namespace {

// Of MySQL 8, which MariaDB's header does not have.
constexpr unsigned check_constraint_violated = 3819;
constexpr unsigned query_timeout = 3024;
constexpr unsigned client_interaction_timeout = 4031;

}  // namespace

bool is_of_server(unsigned number) noexcept {
  const bool is_of_library = (number >= 2000 && number < 3000) || (number >= 5000 && number < 5100);
  return number != 0 && !is_of_library;
}

bool ends_connection(unsigned number) noexcept {
  switch (number) {
    case ER_SERVER_SHUTDOWN:
    case ER_NORMAL_SHUTDOWN:
    case ER_CONNECTION_KILLED:
    case ER_NET_PACKET_TOO_LARGE:
    case client_interaction_timeout: return true;
    default: return !is_of_server(number);
  }
}

bool is_of_charsets(unsigned number) noexcept {
  return number == ER_CANT_AGGREGATE_2COLLATIONS || number == ER_CANT_AGGREGATE_3COLLATIONS ||
         number == ER_CANT_AGGREGATE_NCOLLATIONS;
}

bool is_of_time(unsigned number) noexcept {
  return number == ER_STATEMENT_TIMEOUT || number == query_timeout;
}

failure_kind kind_of(unsigned number) noexcept {
  switch (number) {
    case ER_NO_SUCH_TABLE:
    case ER_BAD_DB_ERROR:
    case ER_BAD_FIELD_ERROR:
    case ER_TABLE_DEF_CHANGED:
    case ER_KEY_DOES_NOT_EXISTS:
    case ER_NEED_REPREPARE: return failure_kind::schema_changed;
    case ER_DUP_ENTRY:
    case ER_DUP_KEY:
    case ER_DUP_ENTRY_WITH_KEY_NAME: return failure_kind::duplicate_key;
    case ER_BAD_NULL_ERROR:
    case ER_NO_DEFAULT_FOR_FIELD:
    case ER_NO_REFERENCED_ROW:
    case ER_NO_REFERENCED_ROW_2:
    case ER_ROW_IS_REFERENCED:
    case ER_ROW_IS_REFERENCED_2:
    case ER_DATA_TOO_LONG:
    case ER_WARN_DATA_OUT_OF_RANGE:
    case ER_CONSTRAINT_FAILED:
    case ER_TRUNCATED_WRONG_VALUE:
    case ER_TRUNCATED_WRONG_VALUE_FOR_FIELD:
    case WARN_DATA_TRUNCATED:
    case ER_SIGNAL_EXCEPTION:
    case check_constraint_violated: return failure_kind::constraint;
    case ER_LOCK_WAIT_TIMEOUT:
    case ER_LOCK_DEADLOCK:
    case ER_CON_COUNT_ERROR:
    case ER_TOO_MANY_USER_CONNECTIONS:
    case ER_USER_LIMIT_REACHED:
    case ER_MAX_PREPARED_STMT_COUNT_REACHED:
    case ER_SERVER_SHUTDOWN:
    case ER_NORMAL_SHUTDOWN:
    case ER_CONNECTION_KILLED:
    case ER_QUERY_INTERRUPTED:
    case ER_STATEMENT_TIMEOUT:
    case query_timeout: return failure_kind::busy;
    case ER_OPTION_PREVENTS_STATEMENT:
    case ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION:
    case ER_DBACCESS_DENIED_ERROR:
    case ER_TABLEACCESS_DENIED_ERROR:
    case ER_COLUMNACCESS_DENIED_ERROR:
    case ER_OPEN_AS_READONLY: return failure_kind::read_only;
    case ER_DISK_FULL:
    case ER_RECORD_FILE_FULL: return failure_kind::full;
    case ER_NOT_KEYFILE:
    case ER_CRASHED_ON_USAGE: return failure_kind::corrupt;
    case ER_CANT_AGGREGATE_2COLLATIONS:
    case ER_CANT_AGGREGATE_3COLLATIONS:
    case ER_CANT_AGGREGATE_NCOLLATIONS:
    case ER_PARSE_ERROR:
    case ER_UNSUPPORTED_PS:
    case ER_WRONG_VALUE_COUNT_ON_ROW: return failure_kind::invalid;
    default: return is_of_server(number) ? failure_kind::other : failure_kind::input_output;
  }
}

errc code_of(unsigned number) noexcept {
  switch (number) {
    case CR_SERVER_GONE_ERROR:
    case CR_SERVER_LOST:
    case CR_SERVER_LOST_EXTENDED: return errc::reset;
    case CR_OUT_OF_MEMORY: return errc::exhausted;
    case CR_NET_PACKET_TOO_LARGE: return errc::limit_exceeded;
    case CR_AUTH_PLUGIN_CANNOT_LOAD:
    case CR_AUTH_PLUGIN_ERR: return errc::unsupported;
    case CR_VERSION_ERROR:
    case CR_MALFORMED_PACKET:
    case CR_SERVER_HANDSHAKE_ERR:
    case CR_COMMANDS_OUT_OF_SYNC: return errc::protocol_error;
    default: break;
  }
  if (!is_of_server(number)) return errc::unavailable;
  switch (kind_of(number)) {
    case failure_kind::busy: return errc::unavailable;
    case failure_kind::full: return errc::exhausted;
    default: return errc::invalid_argument;
  }
}

}  // namespace weft::store::mysql
