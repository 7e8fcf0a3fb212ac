// expect: let it take its parameters by value
#include <string>

#include <weft/service/remote.hpp>

struct order_book {
#ifdef MISTAKE
  int find(const std::string& name) { return static_cast<int>(name.size()); }
#else
  int find(std::string name) { return static_cast<int>(name.size()); }
#endif
};

weft::task<weft::result<int>> ask(weft::remote<order_book>& orders) {
  co_return co_await orders.call(&order_book::find, std::string{"seven"});
}
