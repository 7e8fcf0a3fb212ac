#include <weft/http/content_disposition.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include <weft/base/utf8.hpp>

namespace weft::http {
namespace {

std::string described(std::string_view value) {
  std::array<char, 256> room;
  const auto found = parse_content_disposition(value, std::span{room}.first(value.size()));
  if (!found) return "malformed";
  std::string text{found->type};
  if (found->name) text.append(" name=[").append(*found->name).append("]");
  if (found->filename) text.append(" filename=[").append(*found->filename).append("]");
  if (found->has_unknown_filename) text.append(" unknown");
  return text + (found->has_extended_filename ? " extended" : "");
}

TEST(content_disposition, is_read_as_its_rfcs_say) {
  struct disposition_case {
    std::string_view sent;
    std::string_view read;
  };
  for (const auto& [sent, read] : std::vector<disposition_case>{
           {"inline", "inline"},
           {"attachment; filename=a.txt", "attachment filename=[a.txt]"},
           {R"(form-data; name="a")", "form-data name=[a]"},
           {R"(form-data; NAME="a b" ;filename="")", "form-data name=[a b] filename=[]"},
           {R"(form-data; name="a;b\"c")", R"(form-data name=[a;b"c])"},
           {R"(form-data; name=a; filename="C:\new\a.txt")",
            R"(form-data name=[a] filename=[C:\new\a.txt])"},
           {R"(form-data; name=a; filename="a%22b")", "form-data name=[a] filename=[a%22b]"},
           {"attachment; filename*=UTF-8''%e2%82%ac%20rates",
            "attachment filename=[\xe2\x82\xac rates] extended"},
           {"attachment; filename=\"EURO rates\"; filename*=utf-8'en'%e2%82%ac",
            "attachment filename=[\xe2\x82\xac] extended"},
           {"attachment; filename*=UTF-8''a; filename=b", "attachment filename=[a] extended"},
           {"attachment; other=1; other=2", "attachment"},
           // White space around the "=", as mail has it.
           {R"(form-data; name = "a"; filename= b.txt)", "form-data name=[a] filename=[b.txt]"},
           {"form-data; name\t=\ta ; filename* =utf-8''b",
            "form-data name=[a] filename=[b] extended"},
           // What encodeURIComponent() leaves as it is.
           {"attachment; filename*=UTF-8''it's(1)!.txt",
            "attachment filename=[it's(1)!.txt] extended"},
           {"attachment; filename*=\"UTF-8''a\"", "attachment filename=[a] extended"},
           // In a character set that is not known here, it is as if it were not there.
           {"attachment; filename*=koi8-r''%c1; filename=b", "attachment filename=[b] unknown"},
           {"attachment; filename=b; filename*=koi8-r''%c1", "attachment filename=[b] unknown"},
           {"attachment; filename*=koi8-r''%c1", "attachment unknown"},
           {"attachment; filename*=ISO-8859-1''%a3%20rates",
            "attachment filename=[\xc2\xa3 rates] extended"},
           // So is one that is not what it says (RFC 8187 section 3.2.1 has no such thing).
           {"attachment; filename*=UTF-8''%ff; filename=b", "attachment filename=[b] unknown"},
           {"attachment; filename=b; filename*=UTF-8''%e2%82", "attachment filename=[b] unknown"},
           {"attachment; filename*=UTF-8''a%2", "attachment unknown"},
           {"attachment; filename*=UTF-8'a; filename=b", "attachment filename=[b] unknown"},
           {"attachment; filename*=bad; filename=b", "attachment filename=[b] unknown"},
           // No name, however that is written.
           {"form-data; name=a; filename=", "form-data name=[a] filename=[]"},
           {"form-data; name=a; filename", "form-data name=[a] filename=[]"},
           {"form-data; name=a; filename ; size=1", "form-data name=[a] filename=[]"},
           {"form-data; name=a; filename*=", "form-data name=[a]"},
           {"form-data; name=a; filename*=utf-8''; filename=b", "form-data name=[a] filename=[b]"},
           {"", "malformed"},
           {"; name=a", "malformed"},
           {"form data; name=a", "malformed"},
           {"form-data; name", "malformed"},
           {"form-data; name=a b", "malformed"},
           {R"(form-data; name="a)", "malformed"},
           {R"(form-data; name="a"b)", "malformed"},
           {"form-data; name=a; name=b", "malformed"},
           {"form-data; name=a; filename=b; FileName=c", "malformed"},
           {"attachment; filename*=UTF-8''a; filename*=UTF-8''b", "malformed"},
           {"attachment; filename*=; filename*=UTF-8''b", "malformed"},
           {"form-data; name=a; filename; filename=b", "malformed"},
           {"attachment; filename*=UTF-8''a b", "malformed"},
           {"form-data; na me=a", "malformed"},
           {"form-data; =a", "malformed"},
           {"form-data; name=", "malformed"},
       })
    EXPECT_EQ(described(sent), read) << sent;
}

TEST(utf8, is_what_rfc_3629_says) {
  for (std::string_view good :
       {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (std::string_view bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x7f", "\xe0\x9f\xbf", "\xe0\xa0",
        "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
}

}  // namespace
}  // namespace weft::http
