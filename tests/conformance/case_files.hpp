// How files of cases are read, whatever the cases are of.
//
// `[name]` begins a case, and `key: value` lines say what it has; blank lines and those that begin
// with # are passed over.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft {

/// Of all *.txt in `folder` of the current directory's tests/conformance, in the order of their
/// names. `Case` has a name, a file and a rule; of other keys `set_value` tells whether it knows
/// them. Throws std::runtime_error for a line that nobody understands.
template <class Case>
std::vector<Case> read_case_files(const std::string& folder,
                                  bool (*set_value)(Case& of, const std::string& key,
                                                    const std::string& value)) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{"tests/conformance/" + folder})
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<Case> cases;
  for (const auto& path : files) {
    std::ifstream file{path};
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      if (line[0] == '[') {
        cases.emplace_back();
        cases.back().name = line.substr(1, line.size() - 2);
        cases.back().file = path.filename();
        continue;
      }
      const std::size_t colon = line.find(": ");
      if (colon == line.npos) throw std::runtime_error("no key in: " + line);
      const std::string key = line.substr(0, colon);
      const std::string value = line.substr(colon + 2);
      if (key == "rule")
        cases.back().rule = value;
      else if (!set_value(cases.back(), key, value))
        throw std::runtime_error("unknown key: " + key);
    }
  }
  return cases;
}

}  // namespace weft
