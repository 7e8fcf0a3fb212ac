// expect: let it take what owns its memory, such as a std::string, not a view
#include <string>
#include <string_view>

#include <weft/service/remote.hpp>

struct order_book {
#ifdef MISTAKE
  int find(std::string_view name) { return static_cast<int>(name.size()); }
#else
  int find(std::string name) { return static_cast<int>(name.size()); }
#endif
};

weft::task<weft::result<int>> ask(weft::remote<order_book>& orders, std::string name) {
  return orders.call(&order_book::find, name + " and company");
}
