#include <weft/store/sqlite/engine_fixture_test.hpp>

#include <stdlib.h>

#include <filesystem>
#include <system_error>

namespace weft::store::sqlite {

std::string make_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "weft-store-XXXXXX").string();
  EXPECT_NE(::mkdtemp(path.data()), nullptr);
  return path;
}

void remove_folder(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace weft::store::sqlite
