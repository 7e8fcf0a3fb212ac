// expect: make the member a std::string
#include <weft/json/read.hpp>

#include <string>
#include <string_view>
#include <vector>

#ifdef MISTAKE
using text = std::string_view;
#else
using text = std::string;
#endif

struct line {
  text product;
  int count;
};
struct order {
  std::vector<line> lines;
};

bool is_order(std::string_view body) { return weft::json::read<order>(body).has_value(); }
