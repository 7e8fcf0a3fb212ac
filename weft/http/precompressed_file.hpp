// A file, or what was made of it ahead of time: "site.css.br" beside "site.css".
//
// Contract: of the codings that the client takes, best first, the first whose file is there; not
// one that is older than the file itself, since that is of another version. The file itself must be
// there, so that nobody reads "a.br" alone as "a". Blocks like open_beneath(). Send "Vary:
// Accept-Encoding" with any of them, and an entity tag that differs by coding.
//
//   auto found = http::open_precompressed(root_fd, "site.css", rank_codings(wanted, ours),
//                                         symlinks::refused, room);
#pragma once

#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/http/file_path.hpp>
#include <weft/http/negotiation.hpp>

namespace weft::http {

struct coded_file {
  open_file file;
  content_coding coding;
};

// "gz" for gzip, "br", "zst"; empty for the others, which have no files.
[[nodiscard]] std::string_view file_suffix(content_coding which) noexcept;

// A folder comes as it is. Errors are open_beneath()'s of the file itself. `room` is overwritten.
[[nodiscard]] result<coded_file> open_precompressed(int root, std::string_view path,
                                                    const coding_preferences& wanted,
                                                    symlinks allowed, std::string& room);

}  // namespace weft::http
