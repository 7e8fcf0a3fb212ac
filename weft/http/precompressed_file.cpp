#include <weft/http/precompressed_file.hpp>

namespace weft::http {

std::string_view file_suffix(content_coding which) noexcept {
  switch (which) {
    case content_coding::gzip: return "gz";
    case content_coding::br: return "br";
    case content_coding::zstd: return "zst";
    case content_coding::identity:
    case content_coding::deflate: break;
  }
  return {};
}

result<coded_file> open_precompressed(int root, std::string_view path,
                                      const coding_preferences& wanted, symlinks allowed,
                                      std::string& room) {
  auto plain = open_beneath(root, path, allowed);
  if (!plain) return fail(plain.error());
  for (const content_coding coding : wanted.all()) {
    if (plain->is_folder() || coding == content_coding::identity) break;
    const std::string_view suffix = file_suffix(coding);
    if (suffix.empty()) continue;
    room.assign(path).append(".").append(suffix);
    auto coded = open_beneath(root, room, allowed);
    if (coded && !coded->is_folder() && coded->modified_ns() >= plain->modified_ns())
      return coded_file{.file = std::move(*coded), .coding = coding};
  }
  return coded_file{.file = std::move(*plain), .coding = content_coding::identity};
}

}  // namespace weft::http
