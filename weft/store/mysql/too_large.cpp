#include <weft/store/mysql/too_large.hpp>

#include <weft/base/format.hpp>

namespace weft::store::mysql {

std::string too_large(std::uint64_t bytes_max) {
  return weft::format(
      "the rows have more than {} bytes (store.mysql.engine.read_memory_bytes): ask for fewer rows "
      "or columns at once",
      bytes_max);
}

}  // namespace weft::store::mysql
