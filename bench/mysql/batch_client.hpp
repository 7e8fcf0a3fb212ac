// A plain client of MariaDB Connector/C: a connection with one prepared statement that looks up a
// batch of sysbench's rows by keys at random, and does nothing with them.
//
//   batch_client client{where, number};
//   client.look_up();
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <mariadb/mysql.h>

struct batch_source {
  unsigned port;
  std::string user;
  std::string password;
  unsigned keys;  // in a batch
  unsigned rows;  // of the table
};

[[noreturn]] inline void give_up(std::string_view what, const char* why) {
  std::fprintf(stderr, "bench/mysql: %.*s: %s\n", static_cast<int>(what.size()), what.data(), why);
  std::exit(1);
}

class batch_client {
 public:
  /// `number` draws its keys. Ends the program where there is no such server.
  batch_client(const batch_source& from, unsigned number) : from_{from}, chance_{number + 1} {
    open();
  }
  batch_client(const batch_client&) = delete;
  batch_client& operator=(const batch_client&) = delete;
  ~batch_client() {
    mysql_stmt_close(statement_);
    mysql_close(connection_);
  }

  void look_up() {
    std::uniform_int_distribution<std::int32_t> any{1, static_cast<std::int32_t>(from_.rows)};
    for (std::int32_t& key : keys_) key = any(chance_);
    if (mysql_stmt_execute(statement_) != 0 || mysql_stmt_store_result(statement_) != 0)
      give_up("cannot look up", mysql_stmt_error(statement_));
    unsigned rows = 0;
    while (mysql_stmt_fetch(statement_) == 0) ++rows;
    mysql_stmt_free_result(statement_);
    if (rows < from_.keys / 2) give_up("rows are missing", "is the table whole?");
  }

 private:
  static constexpr std::size_t columns = 4;
  static constexpr std::size_t text_bytes = 128;

  void open() {
    connection_ = mysql_init(nullptr);
    if (mysql_real_connect(connection_, "127.0.0.1", from_.user.c_str(), from_.password.c_str(),
                           "shop", from_.port, nullptr, 0) == nullptr)
      give_up("cannot connect", mysql_error(connection_));
    std::string sql = "SELECT id,k,c,pad FROM sbtest1 WHERE id IN(?";
    for (unsigned i = 1; i < from_.keys; ++i) sql += ",?";
    sql += ')';
    statement_ = mysql_stmt_init(connection_);
    if (mysql_stmt_prepare(statement_, sql.data(), sql.size()) != 0)
      give_up("cannot prepare", mysql_stmt_error(statement_));
    bind();
  }

  void bind() {
    keys_.resize(from_.keys);
    std::vector<MYSQL_BIND> parameters(from_.keys);
    for (unsigned i = 0; i < from_.keys; ++i) {
      parameters[i].buffer_type = MYSQL_TYPE_LONG;
      parameters[i].buffer = &keys_[i];
    }
    MYSQL_BIND row[columns]{};
    for (std::size_t i = 0; i < columns; ++i) {
      row[i].buffer_type = i < 2 ? MYSQL_TYPE_LONG : MYSQL_TYPE_STRING;
      row[i].buffer = i < 2 ? static_cast<void*>(&numbers_[i]) : texts_[i - 2];
      row[i].buffer_length = i < 2 ? sizeof numbers_[i] : text_bytes;
      row[i].length = &lengths_[i];
    }
    if (mysql_stmt_bind_param(statement_, parameters.data()) != 0 ||
        mysql_stmt_bind_result(statement_, row) != 0)
      give_up("cannot bind", mysql_stmt_error(statement_));
  }

  const batch_source& from_;
  std::minstd_rand chance_;
  MYSQL* connection_ = nullptr;
  MYSQL_STMT* statement_ = nullptr;
  std::vector<std::int32_t> keys_;
  std::int32_t numbers_[2]{};
  char texts_[2][text_bytes]{};
  unsigned long lengths_[columns]{};
};
