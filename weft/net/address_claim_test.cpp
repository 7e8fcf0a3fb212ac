#include <weft/net/address_claim.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weft/loop/socket_calls.hpp>
#include <weft/net/address_book.hpp>

namespace weft::net {
namespace {

/// A listening socket as a shard, or another program, would have it.
class open_socket {
 public:
  open_socket(const endpoint& where, bool shared)
      : open_socket{where, listen_options{.shared = shared}} {}
  open_socket(const endpoint& where, const listen_options& options)
      : fd_{open_listener(where.raw(), options)} {}
  open_socket(const open_socket&) = delete;
  open_socket& operator=(const open_socket&) = delete;
  ~open_socket() {
    if (fd_) ::close(*fd_);
  }
  [[nodiscard]] const result<int>& fd() const noexcept { return fd_; }

 private:
  result<int> fd_;
};

class scratch_folder {
 public:
  scratch_folder() { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    ::unlink(file().c_str());
    ::rmdir(path_.c_str());
  }
  [[nodiscard]] std::string file() const { return path_ + "/socket"; }
  [[nodiscard]] endpoint where() const { return endpoint::parse("unix:" + file()).value(); }

 private:
  std::string path_ = ::testing::TempDir() + "weft-claim-XXXXXX";
};

TEST(address_claim, resolves_port_zero_once) {
  const auto claim = address_claim::take(endpoint::loopback(0));
  ASSERT_TRUE(claim.has_value()) << claim.error().message();
  EXPECT_NE(claim->address().port(), 0);
  const open_socket first{claim->address(), true};
  const open_socket second{claim->address(), true};
  EXPECT_TRUE(first.fd().has_value());
  EXPECT_TRUE(second.fd().has_value()) << "two shards share what was claimed";
}

TEST(address_claim, fails_where_another_listens) {
  const auto free_port = address_claim::take(endpoint::loopback(0));
  ASSERT_TRUE(free_port.has_value());
  for (const bool shared : {false, true}) {
    const open_socket other{free_port->address(), true};
    ASSERT_TRUE(other.fd().has_value());
    const auto claim = address_claim::take(free_port->address());
    ASSERT_FALSE(claim.has_value()) << "shared: " << shared;
    EXPECT_EQ(claim.error(), errc::address_in_use);
  }
}

TEST(address_claim, fails_on_a_port_that_someone_has_for_himself) {
  endpoint where = endpoint::loopback(0);
  {
    const auto claim = address_claim::take(where);
    ASSERT_TRUE(claim.has_value());
    where = claim->address();
  }
  const open_socket other{where, false};
  ASSERT_TRUE(other.fd().has_value());
  EXPECT_EQ(address_claim::take(where).error(), errc::address_in_use);
}

TEST(address_claim, ends_with_the_claim_and_its_listeners) {
  endpoint where = endpoint::loopback(0);
  {
    auto claim = address_claim::take(where);
    ASSERT_TRUE(claim.has_value());
    const address_claim moved{std::move(*claim)};
    where = moved.address();
    const open_socket listener{where, true};
  }
  EXPECT_TRUE(address_claim::take(where).has_value());
}

TEST(address_claim, says_why_an_address_cannot_be_had) {
  // TEST-NET-3 (RFC 5737) is nobody's address.
  EXPECT_FALSE(address_claim::take(endpoint::parse("203.0.113.1:0").value()).has_value());
}

TEST(address_claim, lends_its_path_to_several_listeners_and_removes_it_at_its_end) {
  const scratch_folder folder;
  {
    const auto claim = address_claim::take(folder.where());
    ASSERT_TRUE(claim.has_value()) << claim.error().message();
    EXPECT_EQ(claim->address().to_string(), folder.where().to_string());
    const open_socket first{claim->address(), claim->options()};
    const open_socket second{claim->address(), claim->options()};
    EXPECT_TRUE(first.fd().has_value()) << first.fd().error().message();
    EXPECT_TRUE(second.fd().has_value()) << second.fd().error().message();
    EXPECT_FALSE(address_claim::take(folder.where()).has_value()) << "who listens keeps it";
  }
  EXPECT_NE(::access(folder.file().c_str(), F_OK), 0);
}

TEST(address_claim, removes_the_path_of_a_dead_program) {
  const scratch_folder folder;
  { const open_socket dead{folder.where(), false}; }
  ASSERT_EQ(::access(folder.file().c_str(), F_OK), 0) << "a closed listener leaves its file";
  const auto claim = address_claim::take(folder.where());
  EXPECT_TRUE(claim.has_value()) << claim.error().message();
}

TEST(address_claim, fails_on_a_path_where_another_listens) {
  const scratch_folder folder;
  const open_socket other{folder.where(), false};
  ASSERT_TRUE(other.fd().has_value());
  const auto claim = address_claim::take(folder.where());
  ASSERT_FALSE(claim.has_value());
  EXPECT_EQ(claim.error(), errc::address_in_use);
  EXPECT_EQ(::access(folder.file().c_str(), F_OK), 0) << "and leaves it alone";
}

TEST(address_claim, does_not_remove_a_file_that_is_no_socket) {
  const scratch_folder folder;
  std::FILE* file = std::fopen(folder.file().c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fclose(file);
  EXPECT_FALSE(address_claim::take(folder.where()).has_value());
  EXPECT_EQ(::access(folder.file().c_str(), F_OK), 0);
}

TEST(address_book, gives_all_who_ask_the_same_port) {
  address_book book;
  const auto first = book.claim("127.0.0.1:0");
  const auto second = book.claim("127.0.0.1:0");
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_NE(first->port(), 0);
  EXPECT_EQ(first->to_string(), second->to_string());
}

TEST(address_book, refuses_what_is_no_address_and_what_another_has) {
  address_book book;
  EXPECT_EQ(book.claim("nowhere").error(), errc::invalid_argument);
  const auto held = book.claim("127.0.0.1:0");
  ASSERT_TRUE(held.has_value());
  const open_socket listener{*held, true};
  address_book other;
  EXPECT_EQ(other.claim(held->to_string()).error(), errc::address_in_use);
}

TEST(address_claim, gives_a_socket_file_the_mode_that_is_asked_for) {
  const mode_t umask_before = ::umask(0022);
  for (const unsigned mode : {0600U, 0660U, 0666U}) {
    const scratch_folder folder;
    const auto claim = address_claim::take(folder.where(), mode);
    ASSERT_TRUE(claim.has_value());
    struct stat file{};
    EXPECT_EQ(::stat(folder.file().c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777U, mode);
  }
  ::umask(umask_before);
}

}  // namespace
}  // namespace weft::net
