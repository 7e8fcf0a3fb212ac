#include "serializer_workload.hpp"

#include <cstdint>
#include <string>

#include <weft/json/read.hpp>
#include <weft/json/write.hpp>

namespace weft::bench {

/// {"id":20,"val":"five hundred"}
struct serialized_message {
  std::uint64_t id = 0;
  std::string val;
};

workload_share run_serializer(const workload_options& options) {
  const serialized_message sent{.id = 20, .val = "five hundred"};
  workload_share done;
  std::string text;
  for (; done.dispatched < options.count && done.is_right; ++done.dispatched) {
    json::write(sent, text);
    const auto come = json::read<serialized_message>(text);
    done.is_right = come && come->id == sent.id && come->val == sent.val;
  }
  return done;
}

}  // namespace weft::bench
