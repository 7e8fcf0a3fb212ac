#include <weft/http/negotiation.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace weft::http {
namespace {

TEST(negotiation, chooses_the_media_type_that_is_liked_best) {
  constexpr std::array<std::string_view, 4> offers = {"application/json", "text/html",
                                                      "text/plain; format=flowed", "image/png"};
  struct accept_case {
    std::string_view accept;
    int chosen;  // -1: none
  };
  for (const auto& [accept, chosen] : std::vector<accept_case>{
           {"application/json", 0},
           {"text/html", 1},
           {"TEXT/HTML", 1},
           {"*/*", 0},
           {"text/*", 1},
           {"image/png, */*;q=0.1", 3},
           {"text/html;q=0.5, application/json;q=0.4", 1},
           {"text/html;q=0.001, image/png;q=0", 1},
           {"application/json;q=0, */*", 1},
           {"*/*, application/json;q=0", 1},
           {"text/*;q=0.3, text/html;q=0.7, */*;q=0.5", 1},
           // RFC 9110 section 12.5.1: the most specific range goes first.
           {"text/*;q=0.3, text/plain;q=0.2, text/plain;format=flowed, */*;q=0.1", 2},
           {"text/plain;format=fixed", -1},
           {"text/plain;FORMAT=Flowed;q=1", 2},
           {"text/html;level=1", -1},
           {"application/xml", -1},
           {"application/json;q=0", -1},
           // Nothing that we understand: as if not sent.
           {"", 0},
           {"json", 0},
           {",, ;q=1", 0},
           // A malformed element is passed over.
           {"text/html;q=2, image/png;q=0.1", 3},
           {"text/html;q=0.1234, image/png;q=0.1", 3},
           {"text/html;q=.5, image/png;q=0.1", 3},
           {"text/html;q=1.001, image/png;q=0.1", 3},
           {"text/html;q=\"1\", image/png;q=0.1", 3},
           {"text/html;q, image/png;q=0.1", 3},
           {"text/html;q=, image/png;q=0.1", 3},
           {"*/html, image/png;q=0.1", 3},
           {"\"text/html, image/png", 0},
       }) {
    const auto found = choose_media_type(accept, offers);
    EXPECT_EQ(found ? static_cast<int>(*found) : -1, chosen) << accept;
  }
  EXPECT_EQ(choose_media_type(std::nullopt, offers), 0u);
  EXPECT_EQ(choose_media_type("*/*", {}), std::nullopt);
}

std::string ranked(std::optional<std::string_view> field, coding_set offered) {
  std::string text;
  const coding_preferences ranking = rank_codings(field, offered);
  for (const content_coding each : ranking.all()) text.append(to_string(each)).append(" ");
  return text;
}

TEST(negotiation, ranks_the_codings) {
  constexpr coding_set all{content_coding::gzip, content_coding::deflate, content_coding::br,
                           content_coding::zstd};
  struct coding_case {
    std::string_view field;
    std::string_view order;
  };
  for (const auto& [field, order] : std::vector<coding_case>{
           {"gzip, deflate, br, zstd", "br zstd gzip deflate identity "},
           {"gzip", "gzip identity "},
           {"GZIP, x-gzip", "gzip identity "},
           {"gzip;q=1.0, br;q=0.5", "gzip br identity "},
           {"gzip;q=0", "identity "},
           {"identity, gzip;q=0.5", "identity gzip "},
           {"*", "br zstd gzip deflate identity "},
           {"*;q=0.5, gzip", "gzip br zstd deflate identity "},
           {"br;q=0, *", "zstd gzip deflate identity "},
           {"identity;q=0, gzip", "gzip identity "},
           {"identity;q=0", "identity "},
           {"*;q=0", "identity "},
           {"compress", "identity "},
           {"", "identity "},
           {"gzip;q=two, br", "br identity "},
           {"gzip;q=0.001", "gzip identity "},
       })
    EXPECT_EQ(ranked(field, all), order) << field;
  EXPECT_EQ(ranked(std::nullopt, all), "identity ");
  EXPECT_EQ(ranked("br, gzip", coding_set{content_coding::gzip}), "gzip identity ");
  EXPECT_EQ(choose_coding("br, gzip", coding_set{content_coding::gzip}), content_coding::gzip);
  EXPECT_EQ(choose_coding("br, gzip", {}), content_coding::identity);
}

TEST(content_coding, has_names) {
  for (std::size_t i = 0; i < content_coding_count; ++i) {
    const auto each = static_cast<content_coding>(i);
    EXPECT_EQ(parse_content_coding(to_string(each)), each);
  }
  EXPECT_EQ(parse_content_coding("GZip"), content_coding::gzip);
  EXPECT_EQ(parse_content_coding("compress"), std::nullopt);
  EXPECT_EQ(parse_content_coding(""), std::nullopt);
}

}  // namespace
}  // namespace weft::http
