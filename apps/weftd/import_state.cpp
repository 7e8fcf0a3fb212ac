#include <apps/weftd/import_state.hpp>

#include <cstddef>
#include <cstdio>

#include <weft/base/format.hpp>
#include <weft/json/read.hpp>
#include <weft/json/write.hpp>

#include <apps/weftd/own_file.hpp>

namespace weftd {
namespace {

constexpr std::size_t state_bytes_max = 1024 * 1024;

}  // namespace

std::expected<std::optional<import_state>, std::string> read_import_state(const std::string& path) {
  const auto text = read_own_file(path, state_bytes_max);
  if (!text) return std::unexpected{weft::format("{} cannot be read: {}", path, text.error())};
  if (!*text) return std::nullopt;
  auto state = weft::json::read<import_state>(**text);
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
  auto file = new_file::create(path);
  // finish() reports a write that failed.
  if (file) std::fwrite(text.data(), 1, text.size(), file->stream());
  const auto saved = file ? file->finish(durable::yes) : std::unexpected{file.error()};
  if (saved) return {};
  return std::unexpected{weft::format(
      "{}: an import could not be gone on with: say --state FILE, or --state none", saved.error())};
}

}  // namespace weftd
