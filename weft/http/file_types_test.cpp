#include <weft/http/file_types.hpp>

#include <gtest/gtest.h>

namespace weft::http {
namespace {

TEST(file_types, are_known_by_the_last_extension) {
  EXPECT_EQ(media_type_of_file("a.html"), "text/html; charset=utf-8");
  EXPECT_EQ(media_type_of_file("site/main.CSS"), "text/css; charset=utf-8");
  EXPECT_EQ(media_type_of_file("a.tar.gz"), "application/gzip");
  EXPECT_EQ(media_type_of_file("a.aac"), "audio/aac");
  EXPECT_EQ(media_type_of_file("a.zst"), "application/zstd");
  EXPECT_EQ(media_type_of_file("a.webmanifest"), "application/manifest+json");
  for (std::string_view name :
       {"", "html", "a.", "a.unknown", "a.html.exe", "folder.html/a", "a.averylongextension"})
    EXPECT_EQ(media_type_of_file(name), "application/octet-stream") << name;
}

TEST(file_types, are_compressible_or_not) {
  for (std::string_view type : {"text/plain", "Text/HTML; charset=utf-8", "application/json",
                                "image/svg+xml", "application/ld+json", "font/ttf"})
    EXPECT_TRUE(is_compressible(type)) << type;
  for (std::string_view type : {"image/png", "video/mp4", "application/zip", "font/woff2",
                                "application/octet-stream", "", "text"})
    EXPECT_FALSE(is_compressible(type)) << type;
}

}  // namespace
}  // namespace weft::http
