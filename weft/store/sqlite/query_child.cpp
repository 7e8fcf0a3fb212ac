#include <weft/store/sqlite/query_child.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/store/sqlite/query_message.hpp>
#include <weft/store/sqlite/query_run.hpp>
#include <weft/store/sqlite/query_sandbox.hpp>
#include <weft/store/sqlite/storage.hpp>

namespace weft::store::sqlite {
namespace {

/// Messages, one at a time. False: there is nobody any more on the other side.
class channel {
 public:
  bool receive(std::string& body) {
    std::uint32_t size = 0;
    static_assert(sizeof size == query_message_head_bytes);
    if (!read_all(reinterpret_cast<char*>(&size), sizeof size)) return false;
    if (size > query_message_bytes_max) return false;
    body.resize(size);
    return read_all(body.data(), size);
  }
  bool send(std::string_view message) {
    while (!message.empty()) {
      const ssize_t sent = ::send(query_channel, message.data(), message.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      message.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

 private:
  static bool read_all(char* to, std::size_t size) {
    while (size > 0) {
      const ssize_t got = ::recv(query_channel, to, size, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      to += got;
      size -= static_cast<std::size_t>(got);
    }
    return true;
  }
};

/// Takes what the run has found, for the next answer.
class answering_sink final : public query_sink {
 public:
  void columns(std::span<const column> given) override {
    columns_.assign(given.begin(), given.end());
    are_new_ = true;
  }
  bool row(std::span<const value> values) override {
    rows_.push_back(values);
    return true;
  }
  void failed(const failure& /*why*/) override {}

  /// The rows are views of the run's.
  void write(const query_run& run, std::string& to) {
    using state = query_answer::state;
    const bool has_failed = !run.fault().message.empty();
    const state is = has_failed      ? state::has_failed
                     : run.is_cut()  ? state::is_cut
                     : run.is_over() ? state::is_all
                                     : state::has_more;
    write_answer(is, are_new_ ? &columns_ : nullptr, rows_, run.fault(), to);
    are_new_ = false;
    rows_.clear();
  }

 private:
  std::vector<column> columns_;
  std::vector<std::span<const value>> rows_;
  bool are_new_ = false;
};

class query_server {
 public:
  query_server(storage& files, std::string_view database) : files_{files}, database_{database} {}

  void serve() {
    while (across_.receive(command_)) {
      const auto asked = read_command(command_);
      if (!asked || asked->what != query_command::kind::begin || !answer(*asked)) return;
    }
  }

 private:
  /// False: there is nobody any more to answer.
  bool answer(const query_command& asked) {
    allow_processor_time(asked.allowed.cpu_seconds);
    const query_request request{.database = database_,
                                .text = asked.text,
                                .parameters = asked.parameters,
                                .rows_max = asked.rows_max};
    query_run run{
        files_, request, {.until = time_point::max(), .memory_bytes = asked.allowed.memory_bytes}};
    answering_sink sink;
    std::string next;
    for (;;) {
      run.advance();
      if (run.fault().message.empty()) static_cast<void>(run.tell(sink));
      message_.clear();
      sink.write(run, message_);
      if (!across_.send(message_)) return false;
      if (run.is_over()) return true;
      if (!across_.receive(next)) return false;
      const auto wanted = read_command(next);
      if (!wanted) return false;
      if (wanted->what == query_command::kind::leave) break;
    }
    run.end();
    return true;
  }

  storage& files_;
  std::string database_;
  channel across_;
  std::string command_;
  std::string message_;
};

/// What SQLite and the C library would look for in other files while a query runs.
void load_what_is_elsewhere() {
  ::tzset();
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  static_cast<void>(::localtime_r(&now, &local));  // for what it loads
  char seed = 0;
  sqlite3_randomness(1, &seed);  // returns nothing
}

template <class Number>
bool read_argument(std::string_view text, Number& into) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, into);
  return read.ec == std::errc{} && read.ptr == end;
}

int complain(std::string_view why) {
  std::fprintf(stderr, "the process for queries cannot be used: %.*s\n",
               static_cast<int>(why.size()), why.data());
  return 1;
}

}  // namespace

int serve_queries(int argc, char** argv) {
  sockaddr_storage unused{};
  socklen_t size = sizeof unused;
  std::uint64_t memory_bytes = 0;
  std::int64_t busy_timeout = 0;
  if (argc != 6 || !read_argument(argv[4], memory_bytes) || !read_argument(argv[5], busy_timeout) ||
      ::getsockname(query_channel, reinterpret_cast<sockaddr*>(&unused), &size) != 0)
    return complain("a program starts it for itself, and people have no use for it");
  const auto files =
      storage::open({.directory = argv[2], .busy_timeout = duration{busy_timeout}}, takes_lock::no);
  if (!files) return complain(files.error());
  load_what_is_elsewhere();
  const auto has = enter_sandbox((*files)->path_of(argv[3]), memory_bytes);
  if (!has) return complain(has.error());
  std::string greeting;
  write_greeting(*has, greeting);
  channel across;
  if (!across.send(greeting)) return 1;
  query_server{**files, argv[3]}.serve();
  // Nothing is to be given back that the system does not take.
  ::_exit(0);
}

}  // namespace weft::store::sqlite
