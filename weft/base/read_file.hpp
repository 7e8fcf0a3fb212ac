// The text of a small file that a person has named: a configuration, keys, a certificate.
//
// Problem: a name may be that of anything: who opens a FIFO waits until somebody writes to it, and
// a device may never end. Contract: only regular files are read, and no more of them than is
// allowed; nothing here waits for another program. Blocks for the disk. Any thread.
//
//   auto text = read_file("keys.toml", 1024 * 1024);
//   if (!text) return complain("cannot read keys.toml: " + text.error());
#pragma once

#include <cstddef>
#include <expected>
#include <string>

namespace weft {

/// Else why it cannot be read, for people, without its name. Throws std::bad_alloc.
[[nodiscard]] std::expected<std::string, std::string> read_file(const std::string& path,
                                                                std::size_t bytes_max);

}  // namespace weft
