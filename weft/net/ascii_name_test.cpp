#include <weft/net/ascii_name.hpp>

#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <weft/net/loaded_library.hpp>

namespace weft::net {
namespace {

std::string spelled(std::string_view name) {
  const auto found = ascii_name(name);
  return found ? *found : "none: " + found.error();
}

/// Some of what UTS 46 and IDNA 2008 have to say (unicode.org/reports/tr46).
TEST(ascii_name, is_what_the_dns_has) {
  EXPECT_EQ(spelled("bücher.example"), "xn--bcher-kva.example");
  EXPECT_EQ(spelled("BÜCHER.example"), "xn--bcher-kva.example");
  EXPECT_EQ(spelled("bu\u0308cher.example"), "xn--bcher-kva.example") << "not normalized";
  EXPECT_EQ(spelled("faß.de"), "xn--fa-hia.de") << "not transitional";
  EXPECT_EQ(spelled("βόλος.com"), "xn--nxasmm1c.com") << "not transitional";
  EXPECT_EQ(spelled("日本語。ＪＰ"), "xn--wgv71a119e.jp");
  EXPECT_EQ(spelled("عربي.de"), "xn--ngbrx4e.de");
  EXPECT_EQ(spelled("xn--bcher-kva.ü"), "xn--bcher-kva.xn--tda");
  EXPECT_EQ(spelled("ü.com."), "xn--tda.com.") << "from the root";
  EXPECT_EQ(spelled("so\u00adft.ü"), "soft.xn--tda") << "soft hyphens are passed over";
}

TEST(ascii_name, in_ascii_is_as_it_was) {
  for (const std::string_view name :
       {"Example.com", "xn--zzzz--", "_service.test", "127.0.0.1", "a..b", "-", ""})
    EXPECT_EQ(spelled(name), name);
}

TEST(ascii_name, that_is_none_is_refused_by_its_label) {
  for (const auto& [name, part] :
       {std::pair{"www.-ü.test", "label \"-ü\""}, std::pair{"www.ü-.test", "label \"ü-\""},
        std::pair{"a\u200db.ü", "label \"a\u200db\""}, std::pair{"\u0301a.test", "combining"},
        std::pair{"ü..test", "label \"\""}, std::pair{"ü。。test", "label \"\""},
        std::pair{".ü", "label \"\""}, std::pair{"a℀b.test", "label \"a℀b\""},
        std::pair{"x.\xff.test", "label \"\\xff\""}, std::pair{"אa.com", "bi-directional"},
        std::pair{"１２７.0.0.1", "IP address 127.0.0.1"}, std::pair{"127。0。0。1", "IP address"},
        std::pair{"ü b.test", "label \"ü b\""}}) {
    const std::string found = spelled(name);
    EXPECT_TRUE(found.starts_with("none: ")) << name << ": " << found;
    EXPECT_TRUE(found.contains(part)) << name << ": " << found;
  }
  EXPECT_TRUE(spelled("www." + std::string(60, 'a') + "ü.test").contains("aü\" of the host"));
  std::string many = "ü";
  for (int i = 0; i != 60; ++i) many += ".abcd";
  EXPECT_TRUE(spelled(many).starts_with("none: ")) << spelled(many);
  EXPECT_TRUE(spelled(std::string_view{"ü\0.test", 8}).contains("NUL"));
}

TEST(loaded_library, that_is_missing_is_said_to_be) {
  const auto missing = loaded_library::load("libweft-none.so.0");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error(), "it is not installed");
  const auto found = loaded_library::load("libc.so.6");
  ASSERT_TRUE(found.has_value());
  EXPECT_NE(found->function<int()>("getpid"), nullptr);
  EXPECT_EQ(found->function<int()>("weft_none"), nullptr);
}

}  // namespace
}  // namespace weft::net
