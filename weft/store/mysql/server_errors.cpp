#include <weft/store/mysql/server_errors.hpp>

#include <charconv>

#include <mariadb/errmsg.h>
#include <mariadb/mysqld_error.h>

namespace weft::store::mysql {
namespace {

// Of MySQL 8 and 9, which MariaDB's header does not have.
constexpr unsigned check_constraint_violated = 3819;
constexpr unsigned query_timeout = 3024;
constexpr unsigned client_interaction_timeout = 4031;
constexpr unsigned parameter_not_in_charset = 3988;
constexpr unsigned invalid_json = 3140;
constexpr unsigned json_too_deep = 3157;
constexpr unsigned wrong_srid = 3643;
constexpr unsigned not_a_vector = 6136;  // of MySQL 9
// Of a node of Galera that is cut off from most of the others, or is not up to date yet.
constexpr unsigned not_of_cluster = ER_UNKNOWN_COM_ERROR;
// Of its Group Replication: of one that failed on the way, and of one that came second.
constexpr unsigned failed_before_commit = 3100;
constexpr unsigned rolled_back_in_commit = 3101;

}  // namespace

bool is_of_server(unsigned number) noexcept {
  const bool is_of_library = (number >= 2000 && number < 3000) || (number >= 5000 && number < 5100);
  return number != 0 && !is_of_library;
}

unsigned number_before_tls(unsigned number, std::string_view message) noexcept {
  constexpr std::string_view before = "cannot be verified: ";
  const std::size_t place = message.find(before);
  if (number != CR_CONNECTION_ERROR || place == std::string_view::npos) return number;
  unsigned told = number;
  std::from_chars(message.data() + place + before.size(), message.data() + message.size(), told);
  return told;
}

bool ends_connection(unsigned number) noexcept {
  if (is_of_whole_server(number)) return true;
  switch (number) {
    case ER_CONNECTION_KILLED:
    case ER_NET_PACKET_TOO_LARGE:
    case client_interaction_timeout: return true;
    default: return !is_of_server(number);
  }
}

bool is_of_whole_server(unsigned number) noexcept {
  return number == ER_SERVER_SHUTDOWN || number == ER_NORMAL_SHUTDOWN || number == not_of_cluster;
}

bool was_not_begun(unsigned number) noexcept { return number == not_of_cluster; }

bool may_be_done(unsigned number) noexcept {
  // Of Galera, too, whose node is cut off once it has sent the others what is to be committed.
  return number == ER_ERROR_DURING_COMMIT || number == failed_before_commit;
}

bool undoes_commit(unsigned number) noexcept {
  switch (kind_of(number)) {
    case failure_kind::duplicate_key:
    case failure_kind::constraint:
    case failure_kind::read_only: return true;  // which is told before anything is committed
    default: return number == ER_LOCK_DEADLOCK || number == rolled_back_in_commit;
  }
}

bool has_waited_in_vain(unsigned number) noexcept { return number == ER_LOCK_WAIT_TIMEOUT; }

bool is_of_charsets(unsigned number) noexcept {
  return number == ER_CANT_AGGREGATE_2COLLATIONS || number == ER_CANT_AGGREGATE_3COLLATIONS ||
         number == ER_CANT_AGGREGATE_NCOLLATIONS || number == parameter_not_in_charset;
}

bool is_of_lost_statement(unsigned number) noexcept {
  return number == ER_NEED_REPREPARE || number == ER_UNKNOWN_STMT_HANDLER;
}

bool is_of_time(unsigned number) noexcept {
  return number == ER_STATEMENT_TIMEOUT || number == query_timeout;
}

bool may_be_behind(failure_kind why) noexcept {
  return why == failure_kind::schema_changed || why == failure_kind::read_only;
}

std::string_view public_text(unsigned number, std::string_view message) noexcept {
  switch (number) {
    case ER_DBACCESS_DENIED_ERROR:
    case ER_ACCESS_DENIED_ERROR:
    case ER_TABLEACCESS_DENIED_ERROR:
    case ER_COLUMNACCESS_DENIED_ERROR:
    case ER_SPECIFIC_ACCESS_DENIED_ERROR:
    case ER_PROCACCESS_DENIED_ERROR:
      return "the database server does not let this service do that: ask its operator, whose log "
             "says what is missing";
    case ER_TOO_MANY_USER_CONNECTIONS:
    case ER_USER_LIMIT_REACHED:
      return "the database server does no more for this service now: try again later, or ask its "
             "operator, whose log says which bound it is";
    case ER_MAX_PREPARED_STMT_COUNT_REACHED:
      return "the database server has no room for another prepared statement: try again later, or "
             "ask the operator to raise max_prepared_stmt_count there, or to lower statements_max "
             "here";
    default: break;
  }
  // 'shop'@'10.0.0.1', whatever is said of it.
  return message.contains("'@'") ? "the database server refuses that as it is set up: ask its "
                                   "operator, whose log says why"
                                 : "";
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
    case ER_NO_PARTITION_FOR_GIVEN_VALUE:
    case ER_CANT_CREATE_GEOMETRY_OBJECT:
    case ER_DATA_OUT_OF_RANGE:
    case ER_DIVISION_BY_ZERO:
    case ER_ILLEGAL_VALUE_FOR_TYPE:
    case parameter_not_in_charset:
    case invalid_json:
    case json_too_deep:
    case wrong_srid:
    case not_a_vector:
    case check_constraint_violated: return failure_kind::constraint;
    case ER_LOCK_WAIT_TIMEOUT:
    case ER_LOCK_DEADLOCK:
    case rolled_back_in_commit:
    case ER_CON_COUNT_ERROR:
    case ER_TOO_MANY_USER_CONNECTIONS:
    case ER_USER_LIMIT_REACHED:
    case ER_MAX_PREPARED_STMT_COUNT_REACHED:
    case ER_SERVER_SHUTDOWN:
    case ER_NORMAL_SHUTDOWN:
    case ER_UNKNOWN_COM_ERROR:
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
    case ER_NET_PACKET_TOO_LARGE:
    case CR_NET_PACKET_TOO_LARGE: return failure_kind::too_large;
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
