#include <apps/weftd/api_key.hpp>

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <system_error>
#include <unordered_set>

#include <weft/base/format.hpp>
#include <weft/base/log_escape.hpp>
#include <weft/json/write.hpp>
#include <weft/service/config.hpp>

namespace weftd {

/// The section [access] of a file of keys.
struct key_file {
  std::vector<key_entry> keys{};
};

namespace {

constexpr std::size_t hash_digits = 2 * SHA256_DIGEST_LENGTH;
constexpr std::string_view all_databases = "*";

std::string hex(std::span<const unsigned char> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char each : bytes) {
    text += digits[each >> 4U];
    text += digits[each & 15U];
  }
  return text;
}

template <std::size_t Bytes>
std::string random_hex() {
  std::array<unsigned char, Bytes> drawn{};
  if (::getrandom(drawn.data(), drawn.size(), 0) != static_cast<ssize_t>(drawn.size()))
    throw std::system_error{errno, std::generic_category(), "random bytes for a key"};
  return hex(drawn);
}

/// Of both texts, one behind the other.
std::string hash_of(std::string_view first, std::string_view second) {
  const std::string text = weft::format("{}{}", first, second);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return hex(digest);
}

bool is_equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool is_hex(std::string_view text) noexcept {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_prefix(std::string_view text) noexcept {
  return text.size() == key_prefix_size &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~' && c != '.'; });
}

std::string wrong_entry(const key_entry& entry) {
  if (!is_prefix(entry.prefix))
    return weft::format("its prefix is not {} characters without points, but '{}'", key_prefix_size,
                        weft::log::escaped(entry.prefix));
  if (!entry.hash.empty() && !entry.rondb_hash.empty())
    return "it has both a hash and a rondb_hash: give the one that its secret was hashed for";
  const std::string_view name = entry.rondb_hash.empty() ? "hash" : "rondb_hash";
  const std::string_view hash = entry.rondb_hash.empty() ? entry.hash : entry.rondb_hash;
  if (hash.size() != hash_digits || !is_hex(hash))
    return weft::format("its {} is not {} digits of 0 to 9 and a to f", name, hash_digits);
  if (entry.databases.empty()) return "it has no databases: name some, or \"*\" for all";
  return {};
}

std::string wrong_entries(const std::string& path, std::span<const key_entry> entries) {
  std::string wrong;
  std::unordered_set<std::string_view> prefixes;
  for (const key_entry& each : entries) {
    std::string why = wrong_entry(each);
    if (why.empty() && !prefixes.insert(each.prefix).second) why = "another key has its prefix";
    if (!why.empty())
      wrong += weft::format("{}{}: key '{}': {}", wrong.empty() ? "" : "\n", path,
                            weft::log::escaped(each.name), why);
  }
  return wrong;
}

std::string joined(std::span<const std::string> lines) {
  std::string text;
  for (const std::string& each : lines) {
    if (!text.empty()) text += '\n';
    text += each;
  }
  return text;
}

}  // namespace

bool api_key::admits(std::string_view secret) {
  const bool is_own = entry_.rondb_hash.empty();
  if (is_own ? secret.size() != key_secret_size : secret.empty()) return false;
  if (is_equal_in_constant_time(secret, known_secret_)) return true;
  const bool is_right =
      is_own ? is_equal_in_constant_time(hash_of(entry_.salt, secret), entry_.hash)
             : is_equal_in_constant_time(hash_of(secret, entry_.salt), entry_.rondb_hash);
  if (!is_right) return false;
  known_secret_ = secret;
  return true;
}

bool api_key::allows(right wanted, std::string_view database) const noexcept {
  if (wanted > entry_.rights) return false;
  return std::ranges::any_of(entry_.databases, [database](const std::string& each) {
    return each == all_databases || each == database;
  });
}

new_key make_key(key_entry wanted, key_form form) {
  const std::string secret = random_hex<key_secret_size / 2>();
  wanted.prefix = random_hex<key_prefix_size / 2>();
  wanted.salt = random_hex<16>();
  if (form == key_form::own)
    wanted.hash = hash_of(wanted.salt, secret);
  else
    wanted.rondb_hash = hash_of(secret, wanted.salt);
  std::string text = weft::format("{}.{}", wanted.prefix, secret);
  return {std::move(wanted), std::move(text)};
}

std::string to_toml(const key_entry& entry) {
  std::string name;
  std::string databases;
  weft::json::write(entry.name, name);
  weft::json::write(entry.databases, databases);
  const bool is_own = entry.rondb_hash.empty();
  return weft::format(
      "[[access.keys]]\nname = {}\nprefix = \"{}\"\nsalt = \"{}\"\n{} = \"{}\"\n"
      "databases = {}\nrights = \"{}\"\n",
      name, entry.prefix, entry.salt, is_own ? "hash" : "rondb_hash",
      is_own ? entry.hash : entry.rondb_hash, databases,
      entry.rights == right::write ? "write" : "read");
}

std::expected<std::vector<key_entry>, std::string> read_keys(const std::string& path) {
  weft::config given;
  key_file file;
  given.bind("access", file);
  if (auto read = given.read_file(path); !read) return std::unexpected{std::move(read).error()};
  if (const auto faults = given.apply(); !faults.empty()) return std::unexpected{joined(faults)};
  if (auto wrong = wrong_entries(path, file.keys); !wrong.empty()) return std::unexpected{wrong};
  return std::move(file.keys);
}

}  // namespace weftd
