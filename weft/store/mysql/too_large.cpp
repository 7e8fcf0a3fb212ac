#include <weft/store/mysql/too_large.hpp>

#include <weft/base/format.hpp>
#include <weft/store/mysql/connection.hpp>

namespace weft::store::mysql {

std::string too_large(std::uint64_t bytes_max) {
  return weft::format(
      "the rows have more than {} bytes (store.mysql.engine.read_memory_bytes): ask for fewer rows "
      "or columns at once",
      bytes_max);
}

std::string too_large(const connection& by, std::uint64_t bytes_max) {
  if (!by.was_row_beyond_memory()) return too_large(bytes_max);
  return "a row has more bytes than the memory budget (application.memory_bytes) has room for: ask "
         "for fewer columns, or raise the budget";
}

}  // namespace weft::store::mysql
