// Takes files and gives them back, however large, in less than a hundred kilobytes of memory each.
//
//   files --listen 127.0.0.1:8083 --folder /tmp/files
//   curl -T large.iso http://127.0.0.1:8083/
//   curl -C - -O http://127.0.0.1:8083/large.iso     # and goes on where it was interrupted
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/http/server.hpp>
#include <weft/http/static_files.hpp>
#include <weft/loop/file.hpp>
#include <weft/service/application.hpp>

namespace {

using weft::fail;
using weft::result;
using weft::task;
namespace http = weft::http;

struct file_store_options {
  std::string folder = ".";
};

class file_store {
 public:
  using options = file_store_options;

  file_store(file_store_options options, http::server& http, weft::event_loop& loop)
      : folder_{std::move(options.folder)},
        loop_{loop},
        kept_{{.folder = folder_, .index = ""}, http, loop} {
    http.put("/{name}", [this](const http::request& asked, http::body_reader& body) {
      return take(std::string{*asked.parameter("name")}, body);
    });
  }

 private:
  static bool is_plain(const std::string& name) {
    return !name.starts_with('.') && std::ranges::all_of(name, [](char c) {
      return c == '.' || c == '-' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
             (c >= 'A' && c <= 'Z');
    });
  }

  /// Under another name until it is whole: nobody reads half a file.
  task<result<http::response>> take(std::string name, http::body_reader& body) {
    if (!is_plain(name)) co_return fail(weft::errc::invalid_argument);
    const std::string path = folder_ + "/" + name;
    const std::string part =
        weft::format("{}.{}-{}.part", path, loop_.shard(), ++uploads_);  // two may come at a time
    auto size = co_await store(part, body);
    std::error_code failed;
    if (size) std::filesystem::rename(part, path, failed);
    if (failed) size = fail(weft::error::from_errno(failed.value()));
    if (!size) {
      std::filesystem::remove(part, failed);
      co_return fail(size.error());
    }
    co_return http::response::text(weft::format("{} bytes\n", *size), http::status::created);
  }

  task<result<std::uint64_t>> store(std::string path, http::body_reader& body) {
    auto file = co_await weft::file::open(loop_, std::move(path), weft::file_access::create_new);
    if (!file) co_return fail(file.error());
    if (auto stored = co_await body.read_into(*file); !stored) co_return fail(stored.error());
    if (auto closed = co_await file->close(); !closed) co_return fail(closed.error());
    co_return body.given_bytes();
  }

  std::string folder_;
  weft::event_loop& loop_;
  http::static_files kept_;
  unsigned uploads_ = 0;
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
