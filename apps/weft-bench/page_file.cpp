#include "page_file.hpp"

#include <cerrno>
#include <cstring>

#include "command_line.hpp"

#include <weft/base/format.hpp>

namespace weft::bench {

page_file::page_file(const std::string& path)
    : path_{path}, file_{path.empty() ? nullptr : std::fopen(path.c_str(), "wbe"), &std::fclose} {}

int page_file::write(std::string_view page, int status) {
  if (file_ == nullptr) return status;
  print(file_.get(), page);
  const bool was_written = std::fflush(file_.get()) == 0 && std::ferror(file_.get()) == 0;
  if (was_written) return status;
  print(stderr, weft::format("weft-bench: cannot write '{}': {}\n", path_, std::strerror(errno)));
  constexpr int failed = 1;
  return failed;
}

}  // namespace weft::bench
