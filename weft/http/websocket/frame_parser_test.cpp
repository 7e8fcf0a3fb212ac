#include <weft/http/websocket/frame_parser.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace weft::http::ws {
namespace {

TEST(websocket_frame_head, is_read_as_it_was_written) {
  for (const std::uint64_t size : {0UL, 1UL, 125UL, 126UL, 65535UL, 65536UL, 1UL << 40U}) {
    for (const bool is_masked : {false, true}) {
      const frame_head written{.is_final = size != 126,
                               .is_compressed = size == 125,
                               .is_masked = is_masked,
                               .kind = size == 1 ? opcode::text : opcode::binary,
                               .key = is_masked ? 0x12345678U : 0U,
                               .payload_bytes = size};
      char bytes[frame_head::most_bytes];
      const auto size_bytes = static_cast<std::size_t>(written.write(bytes) - bytes);
      EXPECT_EQ(size_bytes, written.size_bytes());
      frame_parser parser{is_masked ? role::server : role::client, true};
      frame_head read;
      const frame_progress step = parser.parse({bytes, size_bytes}, read);
      ASSERT_EQ(step.status, frame_status::complete) << parser.fault().reason;
      EXPECT_EQ(step.consumed_bytes, size_bytes);
      EXPECT_EQ(read.payload_bytes, size);
      EXPECT_EQ(read.key, written.key);
      EXPECT_EQ(read.is_final, written.is_final);
      EXPECT_EQ(read.is_compressed, written.is_compressed);
      EXPECT_EQ(read.kind, written.kind);
    }
  }
}

}  // namespace
}  // namespace weft::http::ws
