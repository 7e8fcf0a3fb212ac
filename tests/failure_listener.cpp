// In every test program: a test that fails says how its order of chance is seen again.

#include <gtest/gtest.h>

#include <cstdio>

#include <weft/base/failure_note.hpp>

namespace {

class failure_listener final : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& ended) override {
    const char* const note = weft::failure_note();
    if (ended.result()->Failed() && note != nullptr) std::fprintf(stderr, "%s\n", note);
  }
};

// GoogleTest owns its listeners.
[[maybe_unused]] const bool is_listening =
    (testing::UnitTest::GetInstance()->listeners().Append(new failure_listener), true);

}  // namespace
