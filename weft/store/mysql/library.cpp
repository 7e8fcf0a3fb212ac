#include <weft/store/mysql/library.hpp>

#include <mariadb/mysql.h>

namespace weft::store::mysql {

result<void> prepare_library() {
  static const bool is_ready = mysql_library_init(0, nullptr, nullptr) == 0;
  if (!is_ready) return fail(errc::exhausted);
  return {};
}

}  // namespace weft::store::mysql
