#include <weft/http/scan.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <weft/base/random.hpp>

namespace weft::http {
namespace {

// The definitions of the RFCs, spelled a second time.
bool is_tchar(int c) {
  return std::isalnum(c) != 0 ||
         std::string_view{"!#$%&'*+-.^_`|~"}.find(static_cast<char>(c)) != std::string_view::npos;
}
bool is_unreserved_or_sub_delim(int c) {
  return std::isalnum(c) != 0 ||
         std::string_view{"-._~!$&'()*+,;="}.find(static_cast<char>(c)) != std::string_view::npos;
}

TEST(scan, the_table_holds_the_sets_of_the_rfcs) {
  for (int c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    const bool is_ascii = c < 128;
    const bool is_pchar = is_ascii && (is_unreserved_or_sub_delim(c) || c == ':' || c == '@');
    EXPECT_EQ(scan::contains<scan::set::token>(byte), is_ascii && is_tchar(c)) << c;
    const bool is_of_uris = is_pchar || c == '/' || c == '?' || c == '%';
    // All but control characters, the space and the start of a fragment.
    const bool is_of_targets = c > ' ' && c != 127 && c != '#';
    EXPECT_EQ(scan::contains<scan::set::path>(byte), (is_pchar || c == '/') && c != '.') << c;
    EXPECT_EQ(scan::contains<scan::set::query>(byte), is_of_targets && c != '%') << c;
    EXPECT_EQ(scan::contains<scan::set::target>(byte), is_of_targets) << c;
    EXPECT_EQ(scan::contains<scan::set::uri>(byte), is_of_uris) << c;
    EXPECT_EQ(scan::contains<scan::set::host>(byte), is_ascii && is_unreserved_or_sub_delim(c))
        << c;
    EXPECT_EQ(scan::contains<scan::set::field>(byte), c == '\t' || (c >= 32 && c != 127)) << c;
  }
}

constexpr std::array all_sets = {scan::set::token, scan::set::path,  scan::set::query,
                                 scan::set::uri,   scan::set::field, scan::set::host,
                                 scan::set::target};

std::size_t skip_inline(scan::set of, const char* text, std::size_t at, std::size_t end) {
  switch (of) {
    case scan::set::token: return scan::skip<scan::set::token>(text, at, end);
    case scan::set::path: return scan::skip<scan::set::path>(text, at, end);
    case scan::set::query: return scan::skip<scan::set::query>(text, at, end);
    case scan::set::uri: return scan::skip<scan::set::uri>(text, at, end);
    case scan::set::field: return scan::skip<scan::set::field>(text, at, end);
    case scan::set::host: return scan::skip<scan::set::host>(text, at, end);
    case scan::set::target: return scan::skip<scan::set::target>(text, at, end);
  }
  return 0;
}

std::size_t skip_some(scan::set of, const char* text, std::size_t at) {
  switch (of) {
    case scan::set::token: return scan::skip_some<scan::set::token>(text, at);
    case scan::set::path: return scan::skip_some<scan::set::path>(text, at);
    case scan::set::query: return scan::skip_some<scan::set::query>(text, at);
    case scan::set::uri: return scan::skip_some<scan::set::uri>(text, at);
    case scan::set::field: return scan::skip_some<scan::set::field>(text, at);
    case scan::set::host: return scan::skip_some<scan::set::host>(text, at);
    case scan::set::target: return scan::skip_some<scan::set::target>(text, at);
  }
  return 0;
}

/// Every variant, called by name and from behind the inline blocks, against the reference.
void compare(scan::set of, const char* text, std::size_t at, std::size_t end) {
  const std::size_t expected = scan::skip_by(scan::variant::scalar, of, text, at, end);
  bool agree = true;
  for (const scan::variant each : scan::variants()) {
    scan::use(each);
    agree = agree && skip_inline(of, text, at, end) == expected &&
            scan::skip_by(each, of, text, at, end) == expected;
  }
  if (end - at >= 16) {
    const std::size_t some = skip_some(of, text, at);
    agree = agree && some <= expected && some <= at + 16 &&
            scan::skip_by(scan::variant::scalar, of, text, some, end) == expected;
  }
  ASSERT_TRUE(agree) << "set " << static_cast<int>(of) << " from " << at << " of "
                     << ::testing::PrintToString(std::string{text, end});
}

class scan_variants : public ::testing::Test {
 protected:
  void TearDown() override { scan::use(best_); }

 private:
  scan::variant best_ = scan::in_use();
};

TEST_F(scan_variants, the_last_is_in_use) {
  EXPECT_EQ(scan::in_use(), scan::variants().back());
  EXPECT_EQ(scan::variants().front(), scan::variant::scalar);
#ifdef __SSE2__
  EXPECT_EQ(scan::variants().size(), __builtin_cpu_supports("avx2") != 0 ? 3U : 2U);
#endif
}

TEST_F(scan_variants, stop_at_the_same_byte_wherever_it_stands) {
  for (int c = 0; c < 256; ++c)
    for (const std::size_t size :
         {1uz, 15uz, 16uz, 17uz, 31uz, 32uz, 33uz, 64uz, 65uz, 97uz, 130uz})
      for (std::size_t place = 0; place < size; ++place) {
        std::string text(size, 'a');
        text[place] = static_cast<char>(c);
        for (const scan::set each : all_sets) compare(each, text.data(), 0, size);
      }
}

/// The bytes next to where a set begins or ends, on both sides of it.
std::string borders_of(scan::set of) {
  const auto is_in = [of](int byte) {
    const char c = static_cast<char>(byte);
    return skip_inline(of, &c, 0, 1) == 1;
  };
  std::string borders;
  for (int byte = 0; byte < 256; ++byte)
    if (is_in(byte) != is_in((byte + 1) % 256) || is_in(byte) != is_in((byte + 255) % 256))
      borders += static_cast<char>(byte);
  return borders;
}

/// Bytes whose end is followed by memory that may not be touched.
class guarded_memory {
 public:
  guarded_memory() : page_{static_cast<std::size_t>(sysconf(_SC_PAGESIZE))} {
    void* memory =
        mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    memory_ = static_cast<char*>(memory);
    mprotect(memory_ + page_, page_, PROT_NONE);
  }
  guarded_memory(const guarded_memory&) = delete;
  guarded_memory& operator=(const guarded_memory&) = delete;
  ~guarded_memory() { munmap(memory_, 2 * page_); }
  [[nodiscard]] char* end() const noexcept { return memory_ + page_; }

 private:
  std::size_t page_;
  char* memory_;
};

#ifdef NDEBUG
constexpr int random_inputs = 10'000'000;
#else
constexpr int random_inputs = 300'000;
#endif

// Runs of the set's own bytes, broken by a few from its borders: otherwise nothing would be
// skipped.
TEST_F(scan_variants, agree_on_random_inputs) {
  constexpr std::size_t longest = 200;
  constexpr std::size_t pool_size = 4'096;
  random dice{2024};
  std::array<std::string, all_sets.size()> borders;
  std::array<std::string, all_sets.size()> pools;
  for (std::size_t i = 0; i < all_sets.size(); ++i) {
    borders[i] = borders_of(all_sets[i]);
    while (pools[i].size() < pool_size + longest)
      if (const char c = static_cast<char>(dice.below(256));
          skip_inline(all_sets[i], &c, 0, 1) == 1)
        pools[i] += c;
  }
  const guarded_memory memory;
  for (int round = 0; round < random_inputs && !HasFatalFailure(); ++round) {
    const std::size_t i = static_cast<std::size_t>(round) % all_sets.size();
    const std::uint64_t bits = dice.next();
    const std::size_t size = bits % (longest + 1);
    // Most end at the page's end, which fixes how they are aligned; some anywhere before.
    const std::size_t gap = (bits >> 8) % 4 == 0 ? (bits >> 10) % 64 : 0;
    char* const text = memory.end() - gap - size;
    pools[i].copy(text, size, (bits >> 16) % pool_size);
    for (std::size_t breaks = (bits >> 32) % 3; breaks > 0 && size > 0; --breaks)
      text[dice.below(size)] = borders[i][dice.below(borders[i].size())];
    compare(all_sets[i], text, size == 0 ? 0 : (bits >> 40) % 4 * size / 8, size);
  }
}

// It may stop early, but not at what every request has.
TEST(scan, skip_some_passes_over_what_is_common) {
  constexpr std::string_view letters = "abcdefgXYZ";
  for (const scan::set each : all_sets)
    EXPECT_EQ(skip_some(each, "abcdefgXYZ\r\n\r\n\r\n", 0), letters.size());
  EXPECT_EQ(skip_some(scan::set::token, "Content-Type: application/json", 0), 12U);
  EXPECT_EQ(skip_some(scan::set::host, "127.0.0.1:8080\r\nA", 0), 9U);
  EXPECT_EQ(skip_some(scan::set::path, "/orders-1_a:2 HTTP/1.1", 0), 13U);
  EXPECT_EQ(skip_some(scan::set::field, "application/json\r\n", 0), 16U);
}

TEST(scan, count_digits) {
  EXPECT_EQ(scan::count_digits("01234567"), 8U);
  EXPECT_EQ(scan::count_digits("89898989"), 8U);
  for (int c = 0; c < 256; ++c)
    for (std::size_t place = 0; place < 8; ++place) {
      std::string text = "09182736";
      text[place] = static_cast<char>(c);
      EXPECT_EQ(scan::count_digits(text.data()), c >= '0' && c <= '9' ? 8 : place) << c;
    }
}

TEST(scan, decimal) {
  EXPECT_EQ(scan::decimal("0"), 0u);
  EXPECT_EQ(scan::decimal("999999999999999999"), 999999999999999999u);
  EXPECT_EQ(scan::decimal("1000000000000000000"), std::nullopt);
  EXPECT_EQ(scan::decimal(""), std::nullopt);
  EXPECT_EQ(scan::decimal("1a"), std::nullopt);
  EXPECT_EQ(scan::decimal("-1"), std::nullopt);
  EXPECT_EQ(scan::decimal("1/"), std::nullopt);
  EXPECT_EQ(scan::decimal("1:"), std::nullopt);
}

TEST(scan, hex_value) {
  for (int c = 0; c < 256; ++c) {
    const std::string_view digits = "0123456789abcdef";
    const std::size_t found = digits.find(static_cast<char>(c < 128 ? std::tolower(c) : c));
    EXPECT_EQ(scan::hex_value(static_cast<char>(c)),
              found == digits.npos ? -1 : static_cast<int>(found))
        << c;
  }
}

TEST(scan, escaped_byte) {
  EXPECT_EQ(scan::escaped_byte("%41", 0), 'A');
  EXPECT_EQ(scan::escaped_byte("a%fFb", 1), '\xFF');
  EXPECT_EQ(scan::escaped_byte("%00", 0), '\0');
  for (const std::string_view bad : {"%", "%4", "%4g", "%g4", "%%4", "%-1"})
    EXPECT_EQ(scan::escaped_byte(bad, 0), std::nullopt) << bad;
}

}  // namespace
}  // namespace weft::http
