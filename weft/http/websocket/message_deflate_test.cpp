#include <weft/http/websocket/message_deflate.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <weft/base/random.hpp>
#include <weft/http/websocket/deflate_parameters.hpp>
#include <weft/http/websocket/message_memory.hpp>

namespace weft::http::ws {
namespace {

class message_deflate_test : public ::testing::Test {
 protected:
  static std::string drawn_text(random& draw, std::size_t size) {
    std::string text;
    while (text.size() < size)
      text += draw.chance(1, 4) ? static_cast<char>(draw.below(256)) : "abcd"[draw.below(4)];
    return text;
  }

  buffer_pool pool_{64};
};

TEST_F(message_deflate_test, gives_back_what_went_in) {
  random draw{3};
  for (const bool keeps_context : {false, true}) {
    for (int bits = deflate_parameters::least_window_bits; bits <= 15; ++bits) {
      message_deflater deflater{bits, keeps_context};
      message_inflater inflater{bits, keeps_context};
      for (const std::size_t size : {0UZ, 1UZ, 100UZ, 0UZ, 0UZ, 5000UZ, 200'000UZ, 7UZ}) {
        const std::string message = drawn_text(draw, size);
        std::string shorter;
        ASSERT_TRUE(deflater.deflate(message, shorter));
        EXPECT_FALSE(shorter.empty());
        message_memory back{pool_};
        ASSERT_TRUE(inflater.inflate(shorter, back, size)) << size << " in " << bits;
        EXPECT_EQ(back.text(), message);
      }
    }
  }
}

TEST_F(message_deflate_test, makes_a_message_shorter_that_repeats_the_one_before) {
  const std::string message = R"({"symbol":"WEFT","price":17.25,"volume":1200,"side":"buy"})";
  message_deflater with{15, true};
  message_deflater without{15, false};
  std::string first;
  std::string again;
  ASSERT_TRUE(with.deflate(message, first) && with.deflate(message, again));
  EXPECT_LT(again.size(), 10U);
  ASSERT_TRUE(without.deflate(message, again) && without.deflate(message, again));
  EXPECT_EQ(again, first);
}

TEST_F(message_deflate_test, stops_at_the_limit) {
  std::string shorter;
  message_deflater deflater{15, false};
  ASSERT_TRUE(deflater.deflate(std::string(1'000'000, 'a'), shorter));
  message_inflater inflater{15, false};
  message_memory out{pool_};
  EXPECT_EQ(inflater.inflate(shorter, out, 999'999).error(), errc::limit_exceeded);
  EXPECT_LE(out.size(), 1'000'000U);
  message_memory all{pool_};
  EXPECT_TRUE(inflater.inflate(shorter, all, 1'000'000)) << "it serves the next one";
}

TEST_F(message_deflate_test, is_whole_only_where_a_block_ends) {
  random draw{11};
  for (const bool keeps_context : {false, true}) {
    std::string shorter;
    message_deflater deflater{15, keeps_context};
    ASSERT_TRUE(deflater.deflate(drawn_text(draw, 500), shorter));
    for (std::size_t cut = 0; cut != shorter.size(); ++cut) {
      message_inflater inflater{15, keeps_context};
      message_memory out{pool_};
      const auto done = inflater.inflate(std::string_view{shorter}.substr(0, cut), out, 1000);
      EXPECT_TRUE(!done && done.error() == errc::protocol_error) << cut;
    }
  }
  // Stored, of 10 bytes, of which two have come: the next message is not to begin with the others.
  message_inflater inflater{15, true};
  message_memory out{pool_};
  EXPECT_EQ(inflater
                .inflate({"\x00\x0a\x00\xf5\xff"
                          "ab",
                          7},
                         out, 1000)
                .error(),
            errc::protocol_error);
}

TEST_F(message_deflate_test, takes_messages_without_a_bound) {
  std::string shorter;
  message_deflater deflater{15, false};
  ASSERT_TRUE(deflater.deflate("any", shorter));
  message_inflater inflater{15, false};
  message_memory out{pool_};
  ASSERT_TRUE(inflater.inflate(shorter, out, SIZE_MAX));
  EXPECT_EQ(out.text(), "any");
}

TEST_F(message_deflate_test, is_not_believed_again_once_its_window_is_lost) {
  message_inflater inflater{15, true};
  message_memory out{pool_};
  EXPECT_EQ(inflater.inflate("\xff\xff", out, 100).error(), errc::protocol_error);
  EXPECT_FALSE(inflater.inflate("\xf2\x48\xcd\xc9\xc9\x07", out, 100));
}

std::string accepted(std::string_view offers, bool context = true) {
  const auto agreed = accept_deflate(offers, {.context_takeover = context});
  return agreed ? agreed->text() : "declined";
}

TEST(deflate_parameters, are_the_first_offer_that_can_be_kept) {
  EXPECT_EQ(accepted("permessage-deflate"), "permessage-deflate");
  EXPECT_EQ(accepted("permessage-deflate", false),
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover");
  EXPECT_EQ(accepted("permessage-deflate; client_max_window_bits"), "permessage-deflate");
  EXPECT_EQ(accepted("permessage-deflate; client_max_window_bits=10"), "permessage-deflate");
  EXPECT_EQ(accepted("permessage-deflate; server_max_window_bits=10"),
            "permessage-deflate; server_max_window_bits=10");
  EXPECT_EQ(accepted("permessage-deflate; server_max_window_bits=15"),
            "permessage-deflate; server_max_window_bits=15");
  EXPECT_EQ(accepted(R"(permessage-deflate; server_max_window_bits="12")"),
            "permessage-deflate; server_max_window_bits=12");
  EXPECT_EQ(accepted("permessage-deflate; server_no_context_takeover"),
            "permessage-deflate; server_no_context_takeover");
  EXPECT_EQ(accepted("x-webkit-deflate-frame, permessage-deflate; server_max_window_bits=8, "
                     "permessage-deflate; server_max_window_bits=9"),
            "permessage-deflate; server_max_window_bits=9");
}

TEST(deflate_parameters, that_are_wrong_decline_their_offer) {
  for (const std::string_view offer :
       {"", "deflate", "permessage-deflate; unknown", "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_max_window_bits=8",
        "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_max_window_bits=010",
        "permessage-deflate; server_max_window_bits=-1",
        "permessage-deflate; server_max_window_bits=9; server_max_window_bits=9",
        "permessage-deflate; server_no_context_takeover=1",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        "permessage-deflate; client_max_window_bits=7",
        "permessage-deflate; client_max_window_bits=a",
        "permessage-deflate; client_max_window_bits; client_max_window_bits"})
    EXPECT_EQ(accepted(offer), "declined") << offer;
}

TEST(deflate_parameters, of_an_answer_are_what_was_offered) {
  const auto read = [](std::string_view answer, bool context) {
    const auto agreed = read_deflate_answer(answer, {.context_takeover = context});
    return agreed ? agreed->text() : std::string{agreed.error()};
  };
  EXPECT_EQ(read("permessage-deflate", true), "permessage-deflate");
  EXPECT_EQ(read("permessage-deflate; server_max_window_bits=8", true),
            "permessage-deflate; server_max_window_bits=8");
  EXPECT_EQ(read("permessage-deflate; client_max_window_bits=9", true),
            "permessage-deflate; client_max_window_bits=9");
  EXPECT_EQ(read("permessage-deflate; server_no_context_takeover", false),
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover");
  EXPECT_EQ(read("permessage-deflate", false),
            "the server does not keep to server_no_context_takeover");
  EXPECT_EQ(read("permessage-deflate; client_max_window_bits=8", true),
            "the server wants a window of 8 bits, which zlib does not make");
  EXPECT_EQ(read("permessage-deflate; client_max_window_bits", true),
            "the server answers client_max_window_bits without a value");
  EXPECT_TRUE(read("permessage-deflate, permessage-deflate", true).contains("two extensions"));
  EXPECT_TRUE(read("bbf-usp-protocol", true).contains("not offered"));
}

}  // namespace
}  // namespace weft::http::ws
