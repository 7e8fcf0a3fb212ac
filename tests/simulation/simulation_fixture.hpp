// What the tests of all scenarios share: silence, and the files in which seeds are kept.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include <weft/base/log.hpp>

namespace weft::simulation {

class simulation_fixture : public ::testing::Test {
 protected:
  simulation_fixture() { log::set_level(log::level::off); }
  ~simulation_fixture() override { log::set_level(before_); }

  /// The lines of a file in this folder, without those that begin with #.
  static std::vector<std::string> lines_of(const std::string& name) {
    std::ifstream file{"tests/simulation/" + name};
    EXPECT_TRUE(file.is_open()) << name << ": the tests run in the root of the sources";
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
      if (!line.empty() && line[0] != '#') lines.push_back(line);
    return lines;
  }

 private:
  log::level before_ = log::current_level();
};

}  // namespace weft::simulation
