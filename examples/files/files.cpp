// Takes files and gives them back, however large, in less than a hundred kilobytes of memory each.
//
//   files --listen 127.0.0.1:8083 --folder /tmp/files
//   curl -T large.iso http://127.0.0.1:8083/
//   curl -C - -O http://127.0.0.1:8083/large.iso     # and goes on where it was interrupted
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/coro/race.hpp>
#include <weft/coro/shielded.hpp>
#include <weft/http/server.hpp>
#include <weft/http/static_files.hpp>
#include <weft/loop/blocking.hpp>
#include <weft/loop/file.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/service/application.hpp>

namespace {

using weft::fail;
using weft::result;
using weft::task;
namespace http = weft::http;
namespace fs = std::filesystem;

struct file_store_options {
  std::string folder = ".";
  /// What uploads leave of the disk.
  std::uint64_t free_bytes = 64ULL * 1024 * 1024;
};

class file_store {
 public:
  using options = file_store_options;

  file_store(file_store_options options, http::server& http, weft::event_loop& loop)
      : folder_{std::move(options.folder)},
        unfinished_{folder_ / ".unfinished"},
        free_bytes_{options.free_bytes},
        loop_{loop},
        kept_{{.folder = folder_, .index = "", .precompressed = false}, http, loop} {
    fs::create_directory(unfinished_);
    if (loop_.shard() == 0) remove_leftovers();  // before the other shards begin
    http.put("/{name}", [this](const http::request& asked, http::body_reader& body) {
      return take(std::string{*asked.parameter("name")}, asked.header("content-range").has_value(),
                  body);
    });
  }

 private:
  static bool is_plain(const std::string& name) {
    return !name.starts_with('.') && name.size() <= 255 && std::ranges::all_of(name, [](char c) {
      return c == '.' || c == '-' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
             (c >= 'A' && c <= 'Z');
    });
  }

  /// Uploads that a server which was killed has left. Those of others who share the folder grow.
  void remove_leftovers() const {
    for (const fs::directory_entry& each : fs::directory_iterator{unfinished_}) {
      std::error_code failed;
      const auto written = each.last_write_time(failed);
      if (!failed && fs::file_time_type::clock::now() - written > std::chrono::days{1})
        fs::remove(each.path(), failed);
    }
  }

  /// Elsewhere until it is whole: nobody reads half a file. No client can name, or be given, what
  /// lies there, and no two uploads have one name.
  task<result<http::response>> take(std::string name, bool is_part, http::body_reader& body) {
    if (!is_plain(name))
      co_return http::response::problem(http::status::bad_request,
                                        "a name has at most 255 letters, digits, dots, dashes and "
                                        "underscores, and does not begin with a dot");
    if (is_part)  // RFC 9110, section 14.5
      co_return http::response::problem(http::status::bad_request,
                                        "files are replaced whole, without Content-Range");
    const fs::path part = unfinished_ / weft::format("{:016x}-{}", run_, ++uploads_);
    auto size = co_await store(part, body);
    if (size) {
      const auto renamed = co_await weft::blocking([&] { return rename(part, folder_ / name); });
      if (!renamed) size = fail(renamed.error());
    }
    if (size)
      co_return http::response::text(weft::format("{} bytes\n", *size), http::status::created);
    // Though the client has gone, and this is asked to stop.
    (void)co_await weft::shielded(weft::blocking([&] { return remove(part); }),
                                  weft::deadline::never());
    co_return fail(size.error());
  }

  task<result<std::uint64_t>> store(const fs::path& path, http::body_reader& body) {
    if (auto room = co_await leave_room(body.length().value_or(0)); !room)
      co_return fail(room.error());
    auto file = co_await weft::file::open(loop_, path, weft::file_access::create_new);
    if (!file) co_return fail(file.error());
    // A length may be absent, and other uploads take space meanwhile.
    auto ended = co_await weft::race(body.read_into(*file), until_full(body));
    const auto& stored =
        ended.winner == 0 ? *std::get<0>(ended.values) : *std::get<1>(ended.values);
    if (!stored) co_return fail(stored.error());
    if (auto closed = co_await file->close(); !closed) co_return fail(closed.error());
    if (auto room = co_await leave_room(0); !room) co_return fail(room.error());
    co_return body.given_bytes();
  }

  /// Fails if `more_bytes` do not leave as much space as uploads are to leave.
  task<result<void>> leave_room(std::uint64_t more_bytes) {
    const auto free = co_await weft::blocking([&] { return free_space(); });
    if (!free) co_return fail(free.error());
    if (*free < free_bytes_ || *free - free_bytes_ < more_bytes)
      co_return fail(weft::errc::exhausted);
    co_return result<void>{};
  }

  /// Looks again each time a megabyte or more has been stored.
  task<result<void>> until_full(const http::body_reader& body) {
    for (std::uint64_t seen = 0;;) {
      if (const auto slept = co_await weft::sleep_for(loop_, look_interval); !slept)
        co_return slept;
      if (body.given_bytes() - seen < 1'000'000) continue;
      seen = body.given_bytes();
      if (auto room = co_await leave_room(0); !room) co_return room;
    }
  }

  static constexpr weft::duration look_interval = std::chrono::milliseconds{50};

  // These block: blocking() runs them on another thread.
  static result<void> outcome(const std::error_code& failed) {
    return failed ? result<void>{fail(weft::error::from_errno(failed.value()))} : result<void>{};
  }
  static result<void> rename(const fs::path& from, const fs::path& to) {
    std::error_code failed;
    fs::rename(from, to, failed);
    return outcome(failed);
  }
  static result<void> remove(const fs::path& path) {
    std::error_code failed;
    fs::remove(path, failed);
    return outcome(failed);
  }
  [[nodiscard]] result<std::uint64_t> free_space() const {
    std::error_code failed;
    const fs::space_info space = fs::space(unfinished_, failed);
    if (failed) return fail(weft::error::from_errno(failed.value()));
    return space.available;
  }

  fs::path folder_;
  fs::path unfinished_;
  std::uint64_t free_bytes_;
  weft::event_loop& loop_;
  // Serves no name that begins with a dot, nor a.txt.gz as a.txt: anybody may upload that.
  http::static_files kept_;
  std::uint64_t run_ = (std::uint64_t{std::random_device{}()} << 32U) | std::random_device{}();
  std::uint64_t uploads_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "Takes files over HTTP and gives them back"}};
  http::server_options server{.listen = "127.0.0.1:8083", .limits = {.body_bytes = 1ULL << 40U}};
  file_store_options store;
  app.options().option("--listen", server.listen, "Address to serve on", "ADDRESS:PORT");
  app.options().stands_for("--listen", "http.server.listen");
  app.options().option("--folder", store.folder, "Where the files are", "FOLDER");
  app.options().stands_for("--folder", "file_store.folder");
  app.add<http::server>(server);
  app.add<file_store>(store);
  return app.run();
}
