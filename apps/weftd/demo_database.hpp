// A database to try things with, made when it is first wanted.
//
// Contract: DIRECTORY/demo.db, with some 100,000 rows of several types, the same on every machine;
// it takes about a second. One that is there stays as it is. It appears whole or not at all: a
// process that is ended on its way leaves only a file that is overwritten the next time. Blocks.
//
//   auto made = weftd::make_demo_database("data");
//   if (!made) std::fputs(made.error().c_str(), stderr);
#pragma once

#include <expected>
#include <string>

namespace weftd {

/// Whether it was made, and not there already; else why it could not be, for people.
[[nodiscard]] std::expected<bool, std::string> make_demo_database(const std::string& directory);

}  // namespace weftd
