#include <weft/http/safe_file_name.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::http {
namespace {

std::string safe(std::string_view proposed) {
  std::array<char, file_name_bytes_max> room;
  return std::string{safe_file_name(proposed, room)};
}

TEST(safe_file_name, is_one_component_that_harms_nobody) {
  struct name_case {
    std::string_view proposed;
    std::string_view made;
  };
  for (const auto& [proposed, made] : std::vector<name_case>{
           {"a.txt", "a.txt"},
           {"na\xc3\xafve (1).txt", "na\xc3\xafve (1).txt"},
           {"../../etc/passwd", "passwd"},
           {"/etc/passwd", "passwd"},
           {"C:\\Users\\ada\\a.txt", "a.txt"},
           {"..\\a.txt", "a.txt"},
           {"a/b/", "unnamed"},
           {"", "unnamed"},
           {".", "unnamed"},
           {"..", "unnamed"},
           {" . ", "unnamed"},
           {".bashrc", "bashrc"},
           {"a.txt. .", "a.txt"},
           {"a\tb\nc\x7f", "a_b_c_"},
           {std::string_view{"a\0b", 3}, "a_b"},
           {"a<b>c:d\"e|f?g*h", "a_b_c_d_e_f_g_h"},
           {"a\xff\xc3z", "a__z"},
           {"a\xc2\x85z", "a_z"},
           {"invoice\xe2\x80\xaetxt.exe", "invoice_txt.exe"},
           {"a\xe2\x81\xa6z", "a_z"},
           {"a\xe2\x82\xacz", "a\xe2\x82\xacz"},
           {"con", "_con"},
           {"NUL.txt", "_NUL.txt"},
           {"com1.log", "_com1.log"},
           {"LPT", "LPT"},
           {"console", "console"},
       })
    EXPECT_EQ(safe(proposed), made) << proposed;
}

TEST(safe_file_name, is_cut_between_characters) {
  EXPECT_EQ(safe(std::string(300, 'a')), std::string(255, 'a'));
  std::string wide(254, 'a');
  EXPECT_EQ(safe(wide + "\xc3\xa4"), wide);
  EXPECT_EQ(safe(std::string(254, 'a') + ".txt"), std::string(254, 'a'));
}

}  // namespace
}  // namespace weft::http
