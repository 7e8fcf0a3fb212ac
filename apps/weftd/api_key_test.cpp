#include <apps/weftd/api_key.hpp>

#include <string>

#include <gtest/gtest.h>

namespace weftd {
namespace {

std::string secret_of(const new_key& key) { return key.text.substr(key_prefix_size + 1); }

TEST(api_keys, are_never_the_same) {
  const new_key one = make_key({.databases = {"a"}});
  const new_key other = make_key({.databases = {"a"}});
  EXPECT_EQ(one.text.size(), key_prefix_size + 1 + key_secret_size);
  EXPECT_EQ(one.text.substr(0, key_prefix_size), one.entry.prefix);
  EXPECT_NE(one.entry.prefix, other.entry.prefix);
  EXPECT_NE(one.entry.salt, other.entry.salt);
  EXPECT_NE(secret_of(one), secret_of(other));
}

TEST(api_keys, admit_their_own_secret_alone_again_and_again) {
  const new_key made = make_key({.databases = {"a"}});
  api_key key{made.entry};
  std::string wrong = secret_of(made);
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(key.admits(wrong));
    EXPECT_TRUE(key.admits(secret_of(made)));
    EXPECT_FALSE(key.admits(secret_of(made) + "0"));
    EXPECT_FALSE(key.admits(""));
  }
  EXPECT_FALSE(api_key{made.entry}.admits("")) << "before anything has been right";
}

TEST(api_keys, are_hashed_as_the_file_says) {
  // sha256sum of "salt" and 64 zeros
  api_key key{{.salt = "salt",
               .hash = "76ed9ffc5d7f7d67f0edab331b31cd14381e952dcaed5dc2f16faaa63d2344ae",
               .databases = {"a"}}};
  EXPECT_TRUE(key.admits(std::string(key_secret_size, '0')));
}

TEST(api_keys, of_rondb_hash_the_secret_and_then_the_salt) {
  // printf %s 'open sesame''cumin' | sha256sum
  api_key key{{.salt = "cumin",
               .rondb_hash = "2aa4518aeaf58eaf34bad753de94c33aead5ce67074f08eea6f83fc88e0ec026",
               .databases = {"a"}}};
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(key.admits(""));
    EXPECT_FALSE(key.admits("open sesam"));
    EXPECT_FALSE(key.admits("open sesamecumin"));
    EXPECT_TRUE(key.admits("open sesame"));
  }
  const new_key made = make_key({.databases = {"a"}}, key_form::rondb);
  EXPECT_EQ(made.entry.hash, "");
  EXPECT_TRUE(api_key{made.entry}.admits(secret_of(made)));
}

TEST(api_keys, allow_what_they_name) {
  const api_key reader{{.databases = {"Shop", "hr"}}};
  EXPECT_TRUE(reader.allows(right::read, "Shop"));
  EXPECT_TRUE(reader.allows(right::read, "hr"));
  EXPECT_FALSE(reader.allows(right::read, "shop")) << "another database";
  EXPECT_FALSE(reader.allows(right::read, "shop2"));
  EXPECT_FALSE(reader.allows(right::read, ""));
  EXPECT_FALSE(reader.allows(right::write, "shop"));
  const api_key writer{{.databases = {"*"}, .rights = right::write}};
  EXPECT_TRUE(writer.allows(right::write, "any"));
  EXPECT_TRUE(writer.allows(right::read, "any"));
}

}  // namespace
}  // namespace weftd
