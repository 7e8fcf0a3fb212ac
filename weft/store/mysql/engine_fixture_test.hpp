// What the tests of this engine share: a database on the tests' server, a loop with an engine, and
// sinks that write down what they are told.
//
//   run({"CREATE TABLE t(id INT PRIMARY KEY, a INT)"}, [&](engine& on) -> task<void> {
//     EXPECT_EQ(co_await look_up(on, "t", {{value::integer(1)}}), "-");
//   });
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/log.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/coro/scope.hpp>
#include <weft/store/json_value.hpp>
#include <weft/store/mysql/engine.hpp>
#include <weft/store/mysql/mariadb_server_test.hpp>
#include <weft/telemetry/registry.hpp>

namespace weft::store::mysql {

/// "[17,\"abc\"] - !busy": rows, what is missing, what failed and why.
class noted {
 public:
  std::string text;
  std::string message;  // of the last failure that is no consequence of another

 protected:
  ~noted() = default;
  void add(std::string_view what) {
    if (!text.empty()) text += ' ';
    text += what;
  }
  template <class ColumnAt>
  void add_row(std::span<const value> values, ColumnAt column_at) {
    std::string row = "[";
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i != 0) row += ',';
      append_json(values[i], column_at(i), row);
    }
    add(row + "]");
  }
  void add_failure(const failure& why) {
    add("!" + std::string{to_string(why.kind)});
    if (why.kind != failure_kind::rolled_back) message = why.message;
  }
};

class noted_reads final : public noted, public read_sink {
 public:
  explicit noted_reads(std::span<const key_read> of) : of_{of} {}
  void row(std::size_t operation, std::span<const value> values) override {
    const key_read& read = next(operation);
    add_row(values, [&](std::size_t i) { return read.from->columns()[read.columns[i]]; });
  }
  void missing(std::size_t operation) override {
    next(operation);
    add("-");
  }
  void failed(std::size_t operation, const failure& why) override {
    next(operation);
    add_failure(why);
  }

 private:
  const key_read& next(std::size_t operation) {
    EXPECT_EQ(operation, told_++) << "in order, and each once";
    return of_[operation];
  }
  std::span<const key_read> of_;
  std::size_t told_ = 0;
};

class noted_writes final : public noted, public write_sink {
 public:
  void done(std::size_t operation) override { next(operation, "ok"); }
  void missing(std::size_t operation) override { next(operation, "-"); }
  void failed(std::size_t operation, const failure& why) override {
    EXPECT_EQ(operation, told_++);
    add_failure(why);
  }

 private:
  void next(std::size_t operation, std::string_view what) {
    EXPECT_EQ(operation, told_++) << "in order, and each once";
    add(what);
  }
  std::size_t told_ = 0;
};

class noted_scan final : public noted, public scan_sink {
 public:
  explicit noted_scan(const scan_request& of) : of_{of} {}
  void row(std::span<const value> values) override {
    ++rows;
    add_row(values, [&](std::size_t i) { return of_.from->columns()[of_.columns[i]]; });
  }
  void failed(const failure& why) override { add_failure(why); }
  std::size_t rows = 0;

 private:
  const scan_request& of_;
};

class noted_query final : public noted, public query_sink {
 public:
  void columns(std::span<const column> given) override {
    given_ = given;
    for (const column& each : given) add(each.name);
  }
  bool row(std::span<const value> values) override {
    add_row(values, [&](std::size_t i) { return given_[i]; });
    return ++rows < rows_max;
  }
  void failed(const failure& why) override { add_failure(why); }
  std::size_t rows = 0;
  std::size_t rows_max = 1'000'000;

 private:
  std::span<const column> given_;
};

/// What is logged as long as this is there.
class kept_log {
 public:
  kept_log() {
    log::set_sink(
        [](log::level, std::string_view message, void* self) {
          auto& to = *static_cast<kept_log*>(self);
          const std::lock_guard lock{to.mutex_};
          to.text_.append(message).append("\n");
        },
        this);
  }
  kept_log(const kept_log&) = delete;
  kept_log& operator=(const kept_log&) = delete;
  ~kept_log() { log::set_sink(nullptr, nullptr); }

  [[nodiscard]] std::size_t count(std::string_view what) {
    const std::lock_guard lock{mutex_};
    std::size_t found = 0;
    for (std::size_t at = text_.find(what); at != std::string::npos; at = text_.find(what, at + 1))
      ++found;
    return found;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

/// A loop, and the database `engine_test`, which is new for each test. With WEFT_MYSQL_TLS in the
/// environment engines speak TLS.
class engine_fixture : public mysql_fixture {
 protected:
  static constexpr std::string_view database = "engine_test";

  void SetUp() override;
  void TearDown() override;

  [[nodiscard]] bool is_secured() const noexcept { return options_.tls.mode != tls_mode::off; }

  /// Runs `body` with an engine that has started after these statements of SQL.
  template <class Body>
  void run_engine(std::initializer_list<std::string_view> statements, Body body) {
    static constexpr std::string_view name = "store.mysql.engine";
    if (!prepare(statements)) return;
    lifetime own{name};
    metrics_.emplace();
    engine tried{options_, *loop_, own, metrics_->shard(0)};
    loop_->spawn(live(tried, own, body, beside_));
    loop_->run();
  }

  /// As another program would; what the last one gives.
  task<std::string> sql(std::string_view text);
  /// What the series has come to; -1: there is none.
  [[nodiscard]] std::int64_t counted(std::string_view series,
                                     std::initializer_list<telemetry::label> labels = {}) const;
  /// How many statements others have run since the server began, by its own count.
  task<std::int64_t> statements_of_server();

  [[nodiscard]] static const table& find(engine& in, std::string_view name);
  /// The rows of the keys, with all columns but the key's where none are named.
  static task<std::string> look_up(engine& in, std::string_view from,
                                   std::vector<std::vector<value>> keys,
                                   std::vector<std::string_view> names = {});

  engine_options options_;
  /// Runs while an engine does.
  unique_function<task<void>()> beside_;
  std::optional<telemetry::registry> metrics_;

 private:
  bool prepare(std::initializer_list<std::string_view> statements);
  template <class Body>
  static task<void> live(engine& tried, lifetime& own, Body& body,
                         unique_function<task<void>()>& beside) {
    scope aside{co_await this_task::environment()};
    if (beside) aside.spawn(beside());
    const auto started = co_await tried.start();
    EXPECT_TRUE(started) << started.error().message();
    if (started) co_await body(tried);
    own.request_end();
    co_await own.ended();
    aside.request_stop();
    co_await aside.join();
  }
  std::string password_file_;
};

}  // namespace weft::store::mysql
