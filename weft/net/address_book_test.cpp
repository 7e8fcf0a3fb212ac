#include <weft/net/address_book.hpp>

#include <net/if.h>

#include <array>

#include <gtest/gtest.h>

#include <weft/net/loopback_test.hpp>

namespace weft::net {
namespace {

class address_book_test : public loopback {};
INSTANTIATE_TEST_SUITE_P(backends, address_book_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(address_book_test, listens_on_an_address_with_a_zone) {
  std::array<char, IF_NAMESIZE> name{};
  ASSERT_NE(::if_indextoname(1, name.data()), nullptr);
  const std::string text = std::string{"[::1%"} + name.data() + "]:0";
  EXPECT_FALSE(address_fault(text).has_value());
  address_book book;
  const auto listener = book.listen(loop(), text);
  ASSERT_TRUE(listener.has_value()) << listener.error().message();
  EXPECT_NE(listener->local_endpoint().port(), 0);
}

TEST(address_fault, says_that_a_zone_is_no_interface) {
  EXPECT_EQ(address_fault("[fe80::1%weft-none9]:80"),
            "cannot listen on [fe80::1%weft-none9]:80: there is no network interface "
            "\"weft-none9\"; `ip link` lists those there are");
  EXPECT_TRUE(address_fault("[fe80::1%]:80")->contains("is no address to listen on"));
}

}  // namespace
}  // namespace weft::net
