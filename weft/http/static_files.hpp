// The files of a folder, as browsers, caches and download managers ask for them.
//
// Problem: a path from outside must not lead out of the folder, and a file must neither be read
// into memory nor block the loop. Contract: a service that answers GET and HEAD for all paths below
// `prefix`. file_path.hpp says which paths name a file, precompressed_file.hpp when "a.css.br" is
// sent for "a.css", file_reply.hpp what becomes of conditions and ranges. A folder is answered with
// its `index`, after a redirect to its path with a slash at the end; folders are not listed. The
// options can stand in the configuration, in a section of the service's name. Constructing throws
// std::system_error where `folder` cannot be opened, and std::invalid_argument for a `prefix` that
// is no route's or a `cache_control` that no field can hold. `folder` is opened then, and stays the
// one that is served, whatever takes its name later. Files are looked up on the threads of
// blocking(). One shard.
//
//   app.add<http::static_files>({.folder = "/srv/site", .prefix = "/site"});
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weft/http/file_path.hpp>
#include <weft/http/server.hpp>
#include <weft/service/option_fault.hpp>

namespace weft::http {

struct static_files_options {
  /// Seen from where the process was started.
  std::string folder = ".";
  /// Of the paths: "/" or "/static".
  std::string prefix = "/";
  /// The file that stands for its folder; empty: none does.
  std::string index = "index.html";
  /// Such as "public, max-age=3600"; empty: nothing is said.
  std::string cache_control{};
  /// Whether "a.css.br", "a.css.zst" and "a.css.gz" go before "a.css" for whoever takes them.
  bool precompressed = true;
  /// Links that stay beneath the folder are followed.
  bool follow_links = false;
  /// Names that begin with a dot are served.
  bool hidden_files = false;

  [[nodiscard]] std::vector<option_fault> faults() const;
};

class static_files {
 public:
  using options = static_files_options;

  static_files(static_files_options options, server& http, event_loop& loop);
  static_files(const static_files&) = delete;
  static_files& operator=(const static_files&) = delete;
  ~static_files();

 private:
  struct found;
  [[nodiscard]] task<result<void>> give(const request& asked, body_writer& out);
  [[nodiscard]] result<found> look_up(std::string_view path, const request& asked) const;
  [[nodiscard]] result<found> open(std::string path, const request& asked) const;

  static_files_options options_;
  event_loop& loop_;
  int root_;
};

}  // namespace weft::http
