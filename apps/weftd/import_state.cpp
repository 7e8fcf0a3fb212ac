#include <apps/weftd/import_state.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>

#include <weft/base/format.hpp>
#include <weft/json/read.hpp>
#include <weft/json/write.hpp>

namespace weftd {

namespace fs = std::filesystem;

namespace {

struct closer {
  void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
};

/// Else errno says why not.
bool write_durably(const std::string& path, const std::string& text) {
  const std::unique_ptr<std::FILE, closer> file{std::fopen(path.c_str(), "we")};
  return file != nullptr && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
         std::fflush(file.get()) == 0 && ::fsync(::fileno(file.get())) == 0;
}

/// So that the file has its name after a power cut.
bool sync_folder_of(const std::string& path) {
  const std::string folder = fs::path{path}.parent_path().string();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  // Some file systems know no such thing.
  const bool is_synced = ::fsync(fd) == 0 || errno == EINVAL;
  ::close(fd);
  return is_synced;
}

}  // namespace

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
  text += '\n';
  const std::string half = path + ".part";
  // A name that a power cut leaves must be that of the whole text.
  const bool is_saved = write_durably(half, text) && ::rename(half.c_str(), path.c_str()) == 0 &&
                        sync_folder_of(path);
  if (is_saved) return {};
  return std::unexpected{weft::format(
      "{} cannot be written, so that an import could not be gone on with: {}: say --state FILE, or "
      "--state none",
      path, std::generic_category().message(errno))};
}

}  // namespace weftd
