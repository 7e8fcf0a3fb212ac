#include <weft/base/error.hpp>
#include <weft/base/error_code.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string>
#include <system_error>
#include <type_traits>

namespace {

using weft::errc;
using weft::error;

static_assert(std::is_trivially_copyable_v<error>);
static_assert(sizeof(error) == 8);
static_assert(error(errc::closed).code() == errc::closed);
static_assert(error(errc::reset, 104).os_errno() == 104);

TEST(error, compares_with_errors_by_both_parts_and_with_codes_by_code) {
  const error plain = errc::reset;
  const error from_system = {errc::reset, ECONNRESET};
  EXPECT_EQ(plain, error(errc::reset));
  EXPECT_NE(plain, from_system);
  EXPECT_EQ(from_system, errc::reset);
  EXPECT_EQ(errc::reset, from_system);
  EXPECT_NE(from_system, errc::closed);
}

TEST(error, keeps_the_errno_and_names_what_callers_act_on) {
  struct {
    int os_errno;
    errc expected;
  } const cases[] = {
      {ECANCELED, errc::cancelled},
      {ETIMEDOUT, errc::timed_out},
      {ETIME, errc::timed_out},
      {ENOTCONN, errc::closed},
      {ECONNRESET, errc::reset},
      {EPIPE, errc::reset},
      {ECONNREFUSED, errc::refused},
      {EADDRINUSE, errc::address_in_use},
      {EMSGSIZE, errc::limit_exceeded},
      {EINVAL, errc::invalid_argument},
      {EPROTO, errc::protocol_error},
      {ENOENT, errc::not_found},
      {EMFILE, errc::exhausted},
      {ENFILE, errc::exhausted},
      {ENOBUFS, errc::exhausted},
      {ENOMEM, errc::exhausted},
      {ENOSYS, errc::unsupported},
      {EOPNOTSUPP, errc::unsupported},
      {EHOSTUNREACH, errc::unavailable},
      {EADDRNOTAVAIL, errc::unavailable},
      {EACCES, errc::system},
      {EBADF, errc::system},
      {EAGAIN, errc::exhausted},
  };
  for (const auto& [os_errno, expected] : cases) {
    const error e = error::from_errno(os_errno);
    EXPECT_EQ(e.code(), expected) << os_errno;
    EXPECT_EQ(e.os_errno(), os_errno);
  }
}

TEST(error, every_code_has_a_name_and_a_text_of_its_own) {
  std::set<std::string> names;
  std::set<std::string> texts;
  for (int value = 0; value <= static_cast<int>(errc::system); ++value) {
    names.insert(to_string(static_cast<errc>(value)));
    texts.insert(error(static_cast<errc>(value)).message());
  }
  EXPECT_EQ(names.size(), 15U);
  EXPECT_EQ(texts.size(), 15U);
  EXPECT_STREQ(to_string(errc::cancelled), "cancelled");
  EXPECT_STREQ(to_string(errc::limit_exceeded), "limit_exceeded");
  EXPECT_STREQ(to_string(errc::system), "system");
  EXPECT_STREQ(to_string(static_cast<errc>(60000)), "unknown");
}

TEST(error, message_adds_the_systems_own_words) {
  EXPECT_EQ(error(errc::timed_out).message(), "timed out");
  EXPECT_EQ(error::from_errno(ECONNRESET).message(),
            "connection reset (" + std::system_category().message(ECONNRESET) + ", errno 104)");
}

TEST(error, converts_to_std_error_code) {
  const std::error_code code = error::from_errno(ETIMEDOUT);
  EXPECT_STREQ(code.category().name(), "weft");
  EXPECT_EQ(code, errc::timed_out);
  EXPECT_EQ(code, std::errc::timed_out);
  EXPECT_NE(code, std::errc::connection_reset);
  EXPECT_EQ(code.message(), "timed out");
}

TEST(error, unclassified_system_errors_stay_system_errors) {
  const std::error_code code = error::from_errno(EACCES);
  EXPECT_EQ(code, std::error_code(EACCES, std::system_category()));
  EXPECT_EQ(code, std::errc::permission_denied);
  const std::error_code without_errno = errc::system;
  EXPECT_EQ(without_errno.category(), weft::error_category());
  EXPECT_EQ(without_errno.default_error_condition().category(), weft::error_category());
}

TEST(error, from_errno_refuses_negated_values) {
  EXPECT_DEBUG_DEATH(static_cast<void>(error::from_errno(-ECANCELED)), "positive errno");
}

}  // namespace
