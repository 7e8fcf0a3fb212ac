#include <weft/store/sqlite/query_sandbox.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

#include <weft/store/sqlite/engine_fixture_test.hpp>

namespace weft::store::sqlite {
namespace {

class query_sandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = make_folder();
    for (const char* const name : {"/shop.db", "/shop.db-shm", "/shop.db-wal", "/other.db"})
      std::ofstream{folder_ + name} << "content";
    has_ = find_sandbox_support();
  }
  void TearDown() override { remove_folder(folder_); }

  /// The code with which a process exits that has entered one: that of `inside`.
  template <class Inside>
  void expect(Inside inside) {
    EXPECT_EXIT(
        {
          const auto entered = enter_sandbox(folder_ + "/shop.db", std::uint64_t{64} << 20U);
          std::_Exit(entered ? inside() : 99);
        },
        ::testing::ExitedWithCode(0), "");
  }
  [[nodiscard]] int open_errno(const char* name, int flags) const noexcept {
    const int file = ::open((folder_ + name).c_str(), flags, 0600);
    const int why = file < 0 ? errno : 0;
    if (file >= 0) ::close(file);
    return why;
  }

  std::string folder_;
  sandbox_support has_;
};

TEST_F(query_sandbox, opens_the_files_of_one_database_alone) {
  if (has_.landlock == 0) GTEST_SKIP() << "this kernel has no Landlock";
  expect([this] {
    if (open_errno("/shop.db", O_RDONLY) != 0) return 1;
    if (open_errno("/shop.db-wal", O_RDONLY) != 0) return 8;
    if (open_errno("/shop.db-shm", O_RDWR) != 0) return 2;
    if (open_errno("/shop.db", O_RDWR) != EACCES) return 3;
    if (open_errno("/shop.db-wal", O_RDWR) != EACCES) return 4;
    if (open_errno("/other.db", O_RDONLY) != EACCES) return 5;
    if (open_errno("/new.db", O_RDWR | O_CREAT) != EACCES) return 6;
    if (::open("/etc/passwd", O_RDONLY) >= 0) return 7;
    return 0;
  });
}

TEST_F(query_sandbox, makes_no_calls_but_those_of_reading) {
  if (!has_.seccomp) GTEST_SKIP() << "this kernel has no seccomp";
  expect([this] {
    const auto is_refused = [](long answer) { return answer == -1 && errno == EPERM; };
    if (!is_refused(::socket(AF_INET, SOCK_STREAM, 0))) return 1;
    if (!is_refused(::kill(::getppid(), 0))) return 2;
    if (!is_refused(::unlink((folder_ + "/shop.db").c_str()))) return 3;
    if (!is_refused(::fork())) return 4;
    int file = query_channel;  // which may be written to
    while (file == query_channel) file = ::open((folder_ + "/shop.db").c_str(), O_RDONLY);
    if (file < 0 || !is_refused(::write(file, "x", 1))) return 5;
    if (!is_refused(::fcntl(file, F_SETOWN, ::getppid()))) return 6;
    if (::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
        MAP_FAILED)
      return 7;
    void* const memory = std::malloc(std::size_t{1} << 20U);
    const bool has_memory = memory != nullptr;
    std::free(memory);
    return has_memory ? 0 : 8;
  });
}

TEST_F(query_sandbox, has_so_much_memory_and_time) {
  EXPECT_EXIT(
      {
        allow_processor_time(1);
        for (volatile unsigned spin = 0;;) spin = spin + 1;
      },
      ::testing::KilledBySignal(SIGXCPU), "");
#if !WEFT_SANITIZED
  expect([] {
    void* const most = ::mmap(nullptr, std::size_t{1} << 30U, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return most == MAP_FAILED ? 0 : 1;
  });
#endif
}

}  // namespace
}  // namespace weft::store::sqlite
