// expect: let it take a std::string, not an owned_text, whose memory is its shard's
#include <string>

#include <weft/coro/owned_text.hpp>
#include <weft/service/remote.hpp>

struct order_book {
#ifdef MISTAKE
  int find(weft::owned_text name) { return static_cast<int>(name.view().size()); }
#else
  int find(std::string name) { return static_cast<int>(name.size()); }
#endif
};

weft::task<weft::result<int>> ask(weft::remote<order_book>& orders, std::string name) {
  return orders.call(&order_book::find, name + " and company");
}
