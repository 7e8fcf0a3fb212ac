// The texts in page/, which CMakeLists.txt makes part of the program.
#pragma once

#include <string_view>

namespace weftd {

extern const std::string_view page_body;
extern const std::string_view page_style;
extern const std::string_view page_script;

}  // namespace weftd
