// The scripts of this folder, on each backend and transport: what they say is what the API shows.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/loop/make_backend.hpp>

#include "script.hpp"
#include "stage.hpp"

namespace weft::parity {
namespace {

namespace fs = std::filesystem;

const fs::path folder_of_scripts = "tests/parity/scripts";

/// By name: what a folder lists has no order.
std::vector<std::string> script_names() {
  std::vector<std::string> names;
  std::error_code why;
  for (const auto& each : fs::directory_iterator{folder_of_scripts, why})
    if (each.path().extension() == ".script") names.push_back(each.path().stem().string());
  std::ranges::sort(names);
  return names;
}

std::expected<script, std::string> load(const std::string& name) {
  std::ifstream stream{folder_of_scripts / (name + ".script")};
  return parse_script(std::string{std::istreambuf_iterator<char>{stream}, {}});
}

std::string_view name_of(transport over) { return over == transport::tcp ? "tcp" : "unix"; }

/// Where a script's files are made; gone with what is in it at the end.
class scratch_folder {
 public:
  scratch_folder() { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_ = ::testing::TempDir() + "weft-parity-XXXXXX";
};

using parameters = std::tuple<backend_kind, std::string>;

class parity : public ::testing::TestWithParam<parameters> {
 protected:
  /// One script over one transport, on a loop of its own.
  void play(const script& played, transport over) {
    const std::size_t frames_before = frame_pool::live_frames();
    auto loop = event_loop::create({.backend = std::get<0>(GetParam())});
    if (!loop && std::get<0>(GetParam()) == backend_kind::io_uring)
      GTEST_SKIP() << "io_uring is not to be had here";
    ASSERT_TRUE(loop.has_value()) << loop.error().message();
    std::vector<shown> all;
    {
      const scratch_folder folder;
      stage here{**loop, over, folder.path()};
      (*loop)->spawn(watch(here, played, all));
      (*loop)->run();
    }
    EXPECT_EQ(all.size(), played.steps.size()) << "over " << name_of(over);
    for (const auto& [what, answer] : all)
      EXPECT_TRUE(what->allows(answer)) << weft::format(
          "over {}, line {}, {}: {} {}: shows '{}', and should show '{}'", name_of(over),
          what->line, what->who, what->verb, what->argument, answer, what->answers.front());
    EXPECT_EQ((*loop)->timers().armed_count(), 0U);
    loop->reset();
    EXPECT_EQ(frame_pool::live_frames(), frames_before) << "frames left behind";
  }

 private:
  static task<void> watch(stage& here, const script& played, std::vector<shown>& into) {
    into = co_await here.play(played.steps);
  }
};

TEST_P(parity, shows_what_the_script_says) {
  const auto loaded = load(std::get<1>(GetParam()));
  ASSERT_TRUE(loaded.has_value()) << loaded.error();
  for (const transport over : loaded->over) play(*loaded, over);
}

std::string test_name(const ::testing::TestParamInfo<parameters>& of) {
  std::string name = weft::format("{}_{}", to_string(std::get<0>(of.param)), std::get<1>(of.param));
  std::ranges::replace_if(
      name, [](char each) { return std::isalnum(static_cast<unsigned char>(each)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(scripts, parity,
                         ::testing::Combine(::testing::Values(backend_kind::simulated,
                                                              backend_kind::epoll,
                                                              backend_kind::io_uring),
                                            ::testing::ValuesIn(script_names())),
                         test_name);

TEST(parity_scripts, are_found_and_make_sense) {
  EXPECT_FALSE(script_names().empty()) << "the tests run in the root of the sources";
  for (const std::string& name : script_names()) {
    const auto loaded = load(name);
    EXPECT_TRUE(loaded.has_value()) << name << ": " << loaded.error_or("");
    EXPECT_TRUE(!loaded || !loaded->steps.empty()) << name;
  }
}

TEST(parity_scripts, are_read_as_they_are_written) {
  const auto read = parse_script(
      "# a comment\nover tcp unix\n\nclient: within 20 read 5 & = cancelled | a b\nserver: stop\n");
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_EQ(read->over, (std::vector{transport::tcp, transport::unix_socket}));
  ASSERT_EQ(read->steps.size(), 2U);
  const step& first = read->steps[0];
  EXPECT_EQ(first.line, 4U);
  EXPECT_EQ(first.who + "/" + first.verb + "/" + first.argument, "client/read/5");
  EXPECT_EQ(first.within, std::chrono::milliseconds{20});
  EXPECT_TRUE(first.is_left_waiting);
  EXPECT_TRUE(first.allows("cancelled") && first.allows("a b"));
  EXPECT_FALSE(first.allows("a"));
  EXPECT_TRUE(read->steps[1].allows("ok"));
}

TEST(parity_scripts, say_in_which_line_they_are_wrong) {
  for (const char* wrong : {"client", "client: ", "client: within x read 5", "over the hills"}) {
    const auto read = parse_script(weft::format("# first\n{}\n", wrong));
    ASSERT_FALSE(read.has_value()) << wrong;
    EXPECT_TRUE(read.error().starts_with("line 2: ")) << read.error();
  }
}

}  // namespace
}  // namespace weft::parity
