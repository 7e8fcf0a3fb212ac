// A key by which a client may read or write certain databases.
//
// Problem: whoever reads the file of the keys must not be able to use one. Contract: a key is
// PREFIX.SECRET: 16 characters that say which it is, and are no secret, and 64 hexadecimal digits,
// drawn from the system's random source. The file has the SHA-256 of a salt and the secret; 256
// random bits need no slow hash. A key of the RonDB REST server keeps the hash that its database
// has, of the secret and the salt, and a secret of any length. A secret that has been right once is
// kept in memory and compared with at first, in constant time, so that a warm request hashes
// nothing. One thread.
//
//   const new_key made = make_key({.name = "till", .databases = {"shop"}});
//   api_key key{made.entry};
//   key.admits(made.secret);                   // true
//   key.allows(right::read, "shop");           // true
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weftd {

/// What a client wants to do with rows. Who may write may read.
enum class right : std::uint8_t { read, write };

/// As the file has it.
struct key_entry {
  std::string name{};  // for people
  std::string prefix{};
  std::string salt{};                    // any text
  std::string hash{};                    // of salt and secret: 64 hexadecimal digits
  std::string rondb_hash{};              // instead: of secret and salt
  std::vector<std::string> databases{};  // "*": all
  right rights = right::read;
};

inline constexpr std::size_t key_prefix_size = 16;
inline constexpr std::size_t key_secret_size = 64;

class api_key {
 public:
  explicit api_key(key_entry entry) noexcept : entry_{std::move(entry)} {}

  [[nodiscard]] const key_entry& entry() const noexcept { return entry_; }
  /// Whether `secret` is its own.
  [[nodiscard]] bool admits(std::string_view secret);
  [[nodiscard]] bool allows(right wanted, std::string_view database) const noexcept;

 private:
  key_entry entry_;
  std::string known_secret_;  // that has been right
};

struct new_key {
  key_entry entry;
  std::string text;  // PREFIX.SECRET
};

enum class key_form : std::uint8_t { own, rondb };

/// `wanted` says all but prefix, salt and hash. Throws std::system_error where the system has no
/// random bytes.
[[nodiscard]] new_key make_key(key_entry wanted, key_form form = key_form::own);

/// As a part of a file that read_keys() takes: TOML's strings and lists are those of JSON.
[[nodiscard]] std::string to_toml(const key_entry& entry);

/// What is in the file, [[access.keys]] each; else all that is wrong with it, a line each.
[[nodiscard]] std::expected<std::vector<key_entry>, std::string> read_keys(const std::string& path);

}  // namespace weftd
