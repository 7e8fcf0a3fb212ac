// What is wrong with an option beyond its range: a file that is not there, an address that is none.
//
// Contract: a struct of options may say so by a member function `faults()`, asked once all options
// are read and before any service is made. It may read files; it takes nothing and changes nothing,
// since `--check-config` asks it, too, perhaps beside the program that runs. Each fault names a
// member ("listen", "tls.certificate"), so that people are told who has set it: by line and column.
//
//   std::vector<weft::option_fault> shop_options::faults() const {
//     if (std::filesystem::exists(folder)) return {};
//     return {{"folder", weft::format("\"{}\" is not there", folder)}};
//   }
#pragma once

#include <string>
#include <string_view>

namespace weft {

struct option_fault {
  std::string_view option;  // lives for ever
  std::string what;
};

}  // namespace weft
