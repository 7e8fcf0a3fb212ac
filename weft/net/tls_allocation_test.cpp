// What a secured stream asks of the heap: OpenSSL what it likes, we nothing once warm.
#include <weft/net/tls_stream.hpp>

#include <openssl/crypto.h>

#include <cstdint>
#include <cstdlib>

#include <gtest/gtest.h>

#include <weft/base/sanitizers.hpp>
#include <weft/net/tls_fixture_test.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft::net {
namespace {

thread_local std::uint64_t of_openssl = 0;

void* counted_malloc(std::size_t size_bytes, const char*, int) {
  if (size_bytes == 0) return nullptr;
  ++of_openssl;
  return std::malloc(size_bytes);
}
void* counted_realloc(void* memory, std::size_t size_bytes, const char*, int) {
  ++of_openssl;
  return std::realloc(memory, size_bytes);
}
void counted_free(void* memory, const char*, int) { std::free(memory); }

/// Before OpenSSL has asked for any.
const bool is_counted =
    CRYPTO_set_mem_functions(&counted_malloc, &counted_realloc, &counted_free) == 1;

using tls_allocation_test = tls_loopback;

INSTANTIATE_TEST_SUITE_P(backends, tls_allocation_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(tls_allocation_test, a_warm_exchange_asks_for_nothing_of_ours) {
  ASSERT_TRUE(is_counted);
  run([&]() -> task<void> {
    auto pair = co_await shake_hands();
    if (!pair.is_good()) co_return ADD_FAILURE();
    const std::string answer = pattern(3000);
    const auto exchange = [&]() -> task<void> {
      EXPECT_TRUE((co_await (*pair.client)->write("question")).has_value());
      if (auto got = co_await (*pair.server)->read(); !got) ADD_FAILURE();
      EXPECT_TRUE((co_await (*pair.server)->write(std::string_view{answer})).has_value());
      if (auto got = co_await (*pair.client)->read(); !got) ADD_FAILURE();
    };
    for (int warm = 0; warm < 20; ++warm) co_await exchange();
    of_openssl = 0;
    const testing::allocation_counter since;
    constexpr std::uint64_t rounds = 100;
    for (std::uint64_t i = 0; i < rounds; ++i) co_await exchange();
    const std::uint64_t theirs = of_openssl;
    const std::uint64_t all = since.allocations();
    RecordProperty("openssl_allocations_an_exchange", static_cast<int>(theirs / rounds));
    if (WEFT_ADDRESS_SANITIZER != 0) co_return;
    if (tls_library().starts_with("AWS-LC")) {
      // Its records' buffers come by malloc() itself, which nobody can tell from us: four an
      // exchange, and some. One of ours would be a fifth.
      EXPECT_LT(all, 5 * rounds);
    } else {
      EXPECT_GT(theirs, 0U) << "nobody counts";
      EXPECT_EQ(all - theirs, 0U);
    }
  });
}

}  // namespace
}  // namespace weft::net
