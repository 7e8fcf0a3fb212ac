#include <apps/weftd/swap_command.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <weft/base/format.hpp>
#include <weft/json/read.hpp>
#include <weft/json/write.hpp>
#include <weft/service/command_line.hpp>

#include <apps/weftd/control_message.hpp>
#include <apps/weftd/terminal_line.hpp>

namespace weftd {
namespace {

namespace fs = std::filesystem;

constexpr int exit_failed = 1;

constexpr const char* about =
    "Has a weftd that runs take another file for one of its databases, at once and whole: it is\n"
    "checked first, writes wait for a moment, and none is lost. The former file is kept beside it.";

constexpr const char* examples =
    "Examples:\n"
    "  weftd swap /var/lib/shop/new --data /var/lib/shop --database shop\n"
    "  weftd swap new --socket /run/weftd.sock --database shop --same-schema\n\n"
    "The new file is a SQLite database on the same file system, which no other program has open. "
    "It is\n"
    "moved, not copied. Differences of the schemas are told, a line each. The server is asked by "
    "the\n"
    "socket .weftd.sock in the folder of the databases, which its user alone may use.\n"
    "Exit code: 0 if it is done, 1 if not, and then nothing has changed, 2 for a wrong command "
    "line,\n"
    "3 if the server did not say in time: it may still do it.";

constexpr int exit_unknown = 3;

struct swap_words {
  std::string file;
  std::string database;
  std::string folder;
  std::string socket;
  bool same_schema = false;
  unsigned timeout_s = 3600;
};

struct socket_end {
  int descriptor = -1;
  socket_end() = default;
  socket_end(const socket_end&) = delete;
  socket_end& operator=(const socket_end&) = delete;
  ~socket_end() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

std::string describe_errno() { return std::generic_category().message(errno); }

/// Empty: it is connected.
std::string connect_to(const std::string& path, socket_end& to) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return weft::format("{}: a socket's path has {} bytes at most: name another by --socket", path,
                        sizeof address.sun_path - 1);
  std::memcpy(address.sun_path, path.data(), path.size());
  to.descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool is_connected =
      to.descriptor >= 0 &&
      ::connect(to.descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (is_connected) return {};
  return weft::format(
      "{}: {}: is a weftd there that serves this folder, as the same user? Where none runs, move "
      "the file, once there is no -wal beside the former one",
      path, describe_errno());
}

/// Empty: all of it was sent.
std::string send_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(to, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return weft::format("the server cannot be asked: {}", describe_errno());
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

/// Nothing: it has not said in time, or has ended.
std::expected<std::string, std::string> receive_line(int from, unsigned timeout_s) {
  using clock = std::chrono::steady_clock;
  const auto until = clock::now() + std::chrono::seconds{timeout_s};
  std::string text;
  while (!text.ends_with('\n')) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now());
    pollfd waited{.fd = from, .events = POLLIN, .revents = 0};
    const int ready = left.count() > 0 ? ::poll(&waited, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::unexpected{weft::format("no answer within {} s", timeout_s)};
    std::array<char, 4096> bytes{};
    const ssize_t got = ::recv(from, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::unexpected{std::string{"the server ended without an answer"}};
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return text;
}

int complain(const std::string& what, int code = exit_failed) {
  print_line(stderr, "weftd swap: " + what);
  return code;
}

int tell(const control_reply& told, const swap_words& said) {
  if (!told.error.empty()) return complain(told.error);
  for (const std::string& each : told.differences)
    print_line(stderr, "the schema has changed: " + each);
  print_line(stdout, weft::format("{} is the file of {} now, under its name; the former file is {}",
                                  said.file, said.database, told.kept));
  const bool is_said = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return is_said ? 0 : complain("stdout takes nothing; the file is served all the same");
}

int ask(const swap_words& said) {
  std::error_code why;
  const fs::path file = fs::absolute(said.file, why);
  if (why) return complain(weft::format("{}: {}", said.file, why.message()));
  std::string line;
  weft::json::write(control_request{.command = "swap",
                                    .database = said.database,
                                    .file = file.string(),
                                    .keepSchema = said.same_schema},
                    line);
  line += '\n';
  if (line.size() > control_line_bytes) return complain("the names are too long");
  socket_end server;
  const std::string path =
      !said.socket.empty() ? said.socket : weft::format("{}/{}", said.folder, control_socket_name);
  if (const std::string fault = connect_to(path, server); !fault.empty()) return complain(fault);
  if (const std::string fault = send_all(server.descriptor, line); !fault.empty())
    return complain(fault);
  const auto answer = receive_line(server.descriptor, said.timeout_s);
  if (!answer)
    return complain(answer.error() + ": look in the folder, and in the server's log, what it did",
                    exit_unknown);
  const auto told = weft::json::read<control_reply>(*answer);
  if (!told)
    return complain(weft::format("the answer cannot be read: {}", told.error().message()),
                    exit_unknown);
  return tell(*told, said);
}

}  // namespace

int swap_database(int argc, char** argv) {
  weft::command_line cli{"weftd swap", about, WEFT_VERSION};
  swap_words said;
  cli.argument("FILE", said.file, "The new file");
  cli.option("--database", said.database, "Which database it is to be", "NAME");
  cli.option("--data", said.folder, "Folder of the databases", "FOLDER");
  cli.option("--socket", said.socket, "The server's control socket; else that of the folder",
             "PATH");
  cli.flag("--same-schema", said.same_schema, "Refuse a file whose tables are others");
  cli.option("--timeout", said.timeout_s, "How long to wait for the server", "SECONDS", 86'400);
  cli.epilogue(examples);
  if (const auto ended = cli.parse(argc, argv)) return *ended;
  if (said.file.empty() || said.database.empty() || (said.folder.empty() && said.socket.empty()))
    return complain("say which file, --database NAME, and --data FOLDER or --socket PATH",
                    weft::command_line::exit_usage);
  return ask(said);
}

}  // namespace weftd
