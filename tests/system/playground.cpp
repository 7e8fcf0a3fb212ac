// A server for clients that are not ours to try everything on: JSON, forms, streams both ways,
// files, and a page for browsers.
//
//   playground --http.server.listen=127.0.0.1:8080 --http.static_files.folder=FOLDER
//   curl -F note=hello -F file=@picture.png http://127.0.0.1:8080/form
//   curl http://127.0.0.1:8080/stream/1000000
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/base/format.hpp>
#include <weft/http/compress.hpp>
#include <weft/http/decompress.hpp>
#include <weft/http/metrics_page.hpp>
#include <weft/http/multipart_reader.hpp>
#include <weft/http/server.hpp>
#include <weft/http/static_files.hpp>
#include <weft/service/application.hpp>

namespace {

using weft::errc;
using weft::fail;
using weft::result;
using weft::task;
namespace http = weft::http;

struct note {
  std::string text{};
  std::int64_t number = 0;
};

/// What /stream/{bytes} repeats: lines of sixteen bytes, numbered.
std::string make_block() {
  std::string block;
  for (int line = 0; line < 1024; ++line) block += weft::format("{:015}\n", line);
  return block;
}

task<result<void>> stream(const http::request& asked, http::body_writer& out) {
  static const std::string block = make_block();
  const std::string_view digits = *asked.parameter("bytes");
  std::uint64_t left = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), left);
  if (failed != std::errc{} || end != digits.data() + digits.size())
    co_return fail(errc::invalid_argument);
  while (left > 0) {
    const std::string_view piece = std::string_view{block}.substr(0, left);
    if (auto sent = co_await out.write(piece); !sent) co_return sent;
    left -= piece.size();
  }
  co_return result<void>{};
}

task<result<void>> lines(const http::request& asked, http::body_writer& out) {
  out.start({http::status::ok, http::text_plain, {}});
  return stream(asked, out);
}

task<result<void>> echo(http::body_reader& body, http::body_writer& out) {
  out.start({http::status::ok, http::application_octet_stream, {}}, body.length());
  while (auto piece = co_await body.read())
    if (auto sent = co_await out.write(*piece); !sent) co_return sent;
  co_return body.outcome();
}

task<result<std::string>> count(http::body_reader& body) {
  while (co_await body.read()) {}
  if (auto whole = body.outcome(); !whole) co_return fail(whole.error());
  co_return std::to_string(body.given_bytes());
}

/// Gives back each part of a form, under a line with its name, its file's name and its type.
task<result<void>> echo_form(const http::request& asked, http::body_reader& body,
                             http::body_writer& out) {
  http::multipart_reader form{asked, body};
  while (auto part = co_await form.next()) {
    auto sent = co_await out.write(
        weft::format("{}|{}|{}\n", part->name, part->file_name.value_or("-"), part->content_type));
    while (sent) {
      const auto piece = co_await part->read();
      if (!piece) break;
      sent = co_await out.write(*piece);
    }
    if (sent) sent = co_await out.write("\n");
    if (!sent) co_return sent;
  }
  co_return form.outcome();
}

/// Stores the files of a form, and tells under which names.
task<result<std::string>> store_form(std::string folder, const http::request& asked,
                                     http::body_reader& body) {
  std::string told;
  http::multipart_reader form{asked, body, {.part_bytes = 100'000'000}};
  while (auto part = co_await form.next()) {
    if (!part->file_name) {
      const auto text = co_await part->text(1000);
      if (text) told += weft::format("{}={}\n", part->name, *text);
      continue;
    }
    const std::string name{*part->file_name};
    const auto stored = co_await part->save_in(folder);
    if (!stored) co_return fail(stored.error());
    told += weft::format("{}|{}|{}\n", name, stored->path, stored->size_bytes);
  }
  if (auto whole = form.outcome(); !whole) co_return fail(whole.error());
  co_return told;
}

/// Who asks, and how, as far as the server knows.
void tell_who(http::exchange& e) {
  const auto client = e.client();
  e.reply(http::status::ok, "text/plain",
          weft::format("{} {}\n", client ? client->to_string() : "nobody", e.request().scheme()));
}

struct playground_options {
  std::string uploads = "/tmp";
};

class playground {
 public:
  using options = playground_options;

  playground(const playground_options& options, http::server& server) {
    server.wrap_all(http::compress{});
    server.wrap_all(http::decompress{});
    server.post("/note", [](note given) { return given; });
    server.post("/text", [](const http::request& r) { return std::string{r.body()}; });
    server.get("/lines/{bytes}", lines);
    server.route(http::method::get, "/whoami", tell_who);
    server.post("/echo", echo);
    server.put("/count", count);
    server.post("/form", echo_form);
    server.post("/upload",
                [folder = options.uploads](const http::request& asked, http::body_reader& body) {
                  return store_form(folder, asked, body);
                });
    server.get("/stream/{bytes}", stream);
    // By which a page tells whoever opened it in a browser; of one shard.
    server.post("/report", [this](const http::request& r) { report_ = std::string{r.body()}; });
    server.get("/report", [this] { return report_; });
  }

 private:
  std::string report_;
};

}  // namespace

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "Has clients try everything"}};
  app.add<http::server>({.listen = "127.0.0.1:0", .limits = {.body_bytes = 1ULL << 40U}});
  app.add<http::static_files>();
  app.add<http::metrics_page>();
  app.add<playground>();
  return app.run();
}
