#include <apps/weftd/import_state.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <weft/base/format.hpp>
#include <weft/json/read.hpp>
#include <weft/json/write.hpp>

namespace weftd {

namespace fs = std::filesystem;

std::expected<std::optional<import_state>, std::string> read_import_state(const std::string& path) {
  std::error_code why;
  if (!fs::exists(path, why)) return std::nullopt;
  std::ifstream file{path};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  auto state = weft::json::read<import_state>(text);
  if (!state)
    return std::unexpected{
        weft::format("{} does not say how far an import has come, and is to be removed: {}", path,
                     state.error().message())};
  return std::move(*state);
}

std::expected<void, std::string> save_import_state(const std::string& path,
                                                   const import_state& state) {
  std::string text;
  weft::json::write(state, text);
  const std::string half = path + ".part";
  std::ofstream file{half, std::ios::trunc};
  file << text << '\n';
  file.close();
  std::error_code why;
  if (file) fs::rename(half, path, why);
  if (file && !why) return {};
  return std::unexpected{weft::format(
      "{} cannot be written, so that an import could not be gone on with: say --state FILE, or "
      "--state none",
      path)};
}

}  // namespace weftd
