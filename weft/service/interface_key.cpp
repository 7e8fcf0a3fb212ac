#include <weft/service/interface_key.hpp>

#include <mutex>

namespace weft::detail {
namespace {

constinit std::mutex numbering;
constinit std::uint32_t numbered = 0;  // under it

}  // namespace

std::uint32_t new_number(interface_key& key) noexcept {
  const std::lock_guard lock{numbering};
  const std::uint32_t known = key.number_and_one.load(std::memory_order_relaxed);
  if (known != 0) return known - 1;  // another thread was faster
  key.number_and_one.store(++numbered, std::memory_order_relaxed);
  return numbered - 1;
}

}  // namespace weft::detail
