// A name for a file that somebody else has chosen, made safe to be one.
//
// Problem: what a client calls its file may climb out of a folder, hide, overwrite, end a line of a
// log, or be a device on the next machine. Contract: the result is one component of a path: what
// stands behind the last "/" or "\", at most 255 bytes of UTF-8, cut between characters; control
// characters, those that turn the direction of a text, `<>:"|?*` and bytes that are no UTF-8 become
// "_"; spaces and dots at either end go; names of devices (CON, NUL, COM1 …) get a "_" before them.
// It is never empty, "." or "..": where nothing is left it is "unnamed". Two files may still get
// one name. Make the file's own name yourself wherever you can.
//
//   std::array<char, http::file_name_bytes_max> room;
//   http::safe_file_name("../../etc/pass\twd", room);   // "pass_wd"
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace weft::http {

inline constexpr std::size_t file_name_bytes_max = 255;

// A view of `room`, or a constant.
[[nodiscard]] std::string_view safe_file_name(std::string_view proposed,
                                              std::array<char, file_name_bytes_max>& room) noexcept;

}  // namespace weft::http
