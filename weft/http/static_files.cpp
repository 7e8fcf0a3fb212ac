#include <weft/http/static_files.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/http/file_reply.hpp>
#include <weft/http/file_types.hpp>
#include <weft/http/precompressed_file.hpp>
#include <weft/http/target.hpp>
#include <weft/loop/blocking.hpp>

namespace weft::http {
namespace {

constexpr coding_set codings_of_files{content_coding::br, content_coding::zstd,
                                      content_coding::gzip};

int open_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw std::system_error{errno, std::generic_category(), "folder \"" + path + "\""};
  return fd;
}

static_files_options checked(static_files_options options) {
  response probe = response::empty(status::ok);
  if (!options.cache_control.empty() && !probe.add_field("Cache-Control", options.cache_control))
    throw std::invalid_argument{"cache_control \"" + options.cache_control +
                                "\" is not what a header field can hold"};
  if (options.prefix.ends_with('/')) options.prefix.pop_back();
  return options;
}

response redirect_to_folder(const request& asked) {
  std::string target{asked.path()};
  target += '/';
  if (const std::string_view query = asked.query(); !query.empty())
    target.append("?").append(encode_target(query));
  response made = response::empty(status::permanent_redirect);
  std::ignore = made.add_field("Location", target);
  return made;
}

}  // namespace

std::vector<option_fault> static_files_options::faults() const {
  struct stat facts{};
  const int code = ::stat(folder.c_str(), &facts) != 0 ? errno
                   : S_ISDIR(facts.st_mode)            ? 0
                                                       : ENOTDIR;
  if (code == 0) return {};
  return {{"folder", weft::format("\"{}\" cannot be served: {}", folder,
                                  std::generic_category().message(code))}};
}

struct static_files::found {
  std::string path;
  coded_file of;
};

static_files::static_files(static_files_options options, server& http, event_loop& loop)
    : options_{checked(std::move(options))}, loop_{loop}, root_{open_folder(options_.folder)} {
  try {
    http.get(options_.prefix + "/{*path}",
             [this](const request& asked, body_writer& out) { return give(asked, out); });
    if (!options_.prefix.empty()) http.get(options_.prefix, redirect_to_folder);
  } catch (...) {
    ::close(root_);
    throw;
  }
}

static_files::~static_files() { ::close(root_); }

task<result<void>> static_files::give(const request& asked, body_writer& out) {
  const std::size_t below_bytes = asked.parameter("path")->size() + 1;  // with its slash
  const std::string_view below = asked.path().substr(asked.path().size() - below_bytes);
  auto file = co_await blocking([&] { return look_up(below, asked); });
  if (!file) {
    // Of the threads: not the client's fault.
    const bool is_busy = file.error() == errc::limit_exceeded;
    co_return fail(is_busy ? error{errc::unavailable} : file.error());
  }
  if (file->of.file.is_folder()) {
    out.start(redirect_to_folder(asked));
    co_return result<void>{};
  }
  const file_representation as{.type = media_type_of_file(file->path),
                               .coding = file->of.coding,
                               .has_variants = options_.precompressed,
                               .cache_control = options_.cache_control};
  co_return co_await reply_with_file(loop_, asked, out, std::move(file->of.file), as);
}

/// A folder: its path lacks the slash.
result<static_files::found> static_files::look_up(std::string_view path,
                                                  const request& asked) const {
  std::string room;
  const auto name = relative_file_path(path, {.hidden_files = options_.hidden_files}, room);
  if (!name) return fail(name.error());
  auto file = open(std::string{*name}, asked);
  const bool asks_for_folder = path.ends_with('/');
  if (!file || (!asks_for_folder && !file->of.file.is_folder())) return file;
  if (options_.index.empty() || !file->of.file.is_folder()) return fail(errc::not_found);
  if (!asks_for_folder) return file;
  auto index = open(*name == "." ? options_.index : file->path + "/" + options_.index, asked);
  if (index && index->of.file.is_folder()) return fail(errc::not_found);
  return index;
}

result<static_files::found> static_files::open(std::string path, const request& asked) const {
  const auto wanted = rank_codings(asked.header("accept-encoding"),
                                   options_.precompressed ? codings_of_files : coding_set{});
  const symlinks links = options_.follow_links ? symlinks::beneath : symlinks::refused;
  std::string room;
  auto file = open_precompressed(root_, path, wanted, links, room);
  if (!file) return fail(file.error());
  return found{.path = std::move(path), .of = std::move(*file)};
}

}  // namespace weft::http
