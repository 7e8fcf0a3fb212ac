#include <weft/base/intrusive_list.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace {

struct item {
  explicit item(int id) : id(id) {}

  int id;
  weft::list_hook by_age;
  weft::list_hook by_name;
  item* next = nullptr;
};

using age_list = weft::intrusive_list<item, &item::by_age>;
using name_list = weft::intrusive_list<item, &item::by_name>;
using queue = weft::intrusive_queue<item, &item::next>;

template <class List>
std::vector<int> ids(List& list) {
  std::vector<int> result;
  for (const item& each : list) result.push_back(each.id);
  return result;
}

template <class List>
std::vector<int> drained(List& list) {
  std::vector<int> result;
  while (const item* first = list.pop_front()) result.push_back(first->id);
  return result;
}

using order = std::vector<int>;

TEST(intrusive_list, an_empty_list_has_nothing) {
  age_list list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.front(), nullptr);
  EXPECT_EQ(list.back(), nullptr);
  EXPECT_EQ(list.pop_front(), nullptr);
  EXPECT_EQ(list.begin(), list.end());
}

TEST(intrusive_list, keeps_order_at_both_ends) {
  item a(1), b(2), c(3);
  age_list list;
  list.push_back(b);
  list.push_back(c);
  list.push_front(a);
  EXPECT_EQ(list.front(), &a);
  EXPECT_EQ(list.back(), &c);
  EXPECT_EQ(ids(list), (order{1, 2, 3}));
  EXPECT_EQ(drained(list), (order{1, 2, 3}));
  EXPECT_TRUE(list.empty());
}

TEST(intrusive_list, erases_from_anywhere_and_links_again) {
  item a(1), b(2), c(3);
  age_list list;
  for (item* each : {&a, &b, &c}) list.push_back(*each);
  list.erase(b);
  EXPECT_FALSE(b.by_age.is_linked());
  EXPECT_TRUE(a.by_age.is_linked());
  EXPECT_EQ(ids(list), (order{1, 3}));
  list.push_back(b);
  list.erase(a);
  EXPECT_EQ(ids(list), (order{3, 2}));
  b.by_age.unlink();
  c.by_age.unlink();
  EXPECT_TRUE(list.empty());
}

TEST(intrusive_list, inserts_in_front_of_any_place) {
  item a(1), b(2), c(3);
  age_list list;
  list.insert(list.end(), c);
  list.insert(list.begin(), a);
  list.insert(++list.begin(), b);
  EXPECT_EQ(drained(list), (order{1, 2, 3}));
}

TEST(intrusive_list, one_item_is_in_several_lists_by_several_hooks) {
  item a(1), b(2);
  age_list ages;
  name_list names;
  ages.push_back(a);
  ages.push_back(b);
  names.push_back(b);
  names.push_back(a);
  ages.erase(a);
  EXPECT_EQ(drained(ages), (order{2}));
  EXPECT_EQ(drained(names), (order{2, 1}));
}

TEST(intrusive_list, splices_in_order_and_empties_the_source) {
  item a(1), b(2), c(3), d(4);
  age_list to;
  age_list from;
  to.push_back(a);
  to.push_back(b);
  from.push_back(c);
  from.push_back(d);
  to.splice_back(from);
  EXPECT_TRUE(from.empty());
  to.splice_back(from);  // an empty one changes nothing
  to.splice_back(to);    // neither does itself
  EXPECT_EQ(to.back(), &d);
  EXPECT_EQ(ids(to), (order{1, 2, 3, 4}));
  from.splice_back(to);  // into an empty one
  EXPECT_TRUE(to.empty());
  from.erase(a);
  from.erase(d);
  EXPECT_EQ(drained(from), (order{2, 3}));
}

TEST(intrusive_list, moves_as_a_whole) {
  item a(1), b(2);
  age_list original;
  original.push_back(a);
  original.push_back(b);
  age_list moved = std::move(original);
  EXPECT_TRUE(original.empty());
  EXPECT_EQ(drained(moved), (order{1, 2}));
}

TEST(intrusive_list, the_current_item_may_leave_once_the_iterator_is_past_it) {
  item a(1), b(2), c(3);
  age_list list;
  for (item* each : {&a, &b, &c}) list.push_back(*each);
  for (auto at = list.begin(); at != list.end();) {
    item& current = *at++;
    if (current.id == 2) list.erase(current);
  }
  EXPECT_EQ(drained(list), (order{1, 3}));
}

TEST(intrusive_list, the_hook_may_be_in_a_base_at_an_offset) {
  struct named {
    virtual ~named() = default;
    int number = 0;
  };
  struct hooked {
    long padding = 0;
    weft::list_hook hook;
  };
  struct both : named, hooked {};
  both one;
  weft::intrusive_list<both, &both::hook> list;
  list.push_back(one);
  EXPECT_EQ(list.pop_front(), &one);
}

#ifndef NDEBUG
struct linked_item {
  explicit linked_item(int id) : id(id) {}

  int id;
  weft::list_link by_turn;
};

TEST(intrusive_list, links_that_do_not_know_whether_they_are_linked_serve_as_well) {
  weft::intrusive_list<linked_item, &linked_item::by_turn> list;
  linked_item a{1};
  linked_item b{2};
  linked_item c{3};
  list.push_back(b);
  list.push_front(a);
  list.push_back(c);
  list.erase(b);
  EXPECT_EQ(list.pop_front(), &a);
  list.push_back(a);  // in again, though nothing has been reset
  b.id = 4;
  list.push_back(b);
  order left;
  while (const linked_item* first = list.pop_front()) left.push_back(first->id);
  EXPECT_EQ(left, (order{3, 1, 4}));
  EXPECT_TRUE(list.empty());
}

TEST(intrusive_list, misuse_is_caught_in_debug_builds) {
  item a(1);
  age_list list;
  EXPECT_DEATH(list.erase(a), "in no list");
  list.push_back(a);
  EXPECT_DEATH(list.push_back(a), "already in a list");
  list.erase(a);
  const auto destroy_a_linked_item = [&list] {
    item dies(2);
    list.push_back(dies);
  };
  EXPECT_DEATH(destroy_a_linked_item(), "out of its list before destroying it");
  const auto destroy_a_filled_list = [&a] {
    age_list dies;
    dies.push_back(a);
  };
  EXPECT_DEATH(destroy_a_filled_list(), "empty the list");
}
#endif

TEST(intrusive_queue, is_first_in_first_out) {
  item a(1), b(2), c(3);
  queue q;
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.pop_front(), nullptr);
  q.push_back(b);
  q.push_back(c);
  q.push_front(a);
  EXPECT_EQ(q.front(), &a);
  EXPECT_EQ(drained(q), (order{1, 2, 3}));
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.front(), nullptr);
}

TEST(intrusive_queue, works_again_after_it_ran_empty) {
  item a(1), b(2);
  queue q;
  q.push_front(a);
  q.push_back(b);
  EXPECT_EQ(drained(q), (order{1, 2}));
  EXPECT_EQ(a.next, nullptr);
  q.push_back(b);
  q.push_back(a);
  EXPECT_EQ(drained(q), (order{2, 1}));
}

TEST(intrusive_queue, splices_in_order_and_empties_the_source) {
  item a(1), b(2), c(3);
  queue to;
  queue from;
  from.push_back(a);
  to.splice_back(from);  // into an empty one
  from.push_back(b);
  from.push_back(c);
  to.splice_back(from);
  to.splice_back(from);
  to.splice_back(to);
  EXPECT_TRUE(from.empty());
  EXPECT_EQ(drained(to), (order{1, 2, 3}));
}

TEST(intrusive_queue, moves_as_a_whole) {
  item a(1), b(2);
  queue original;
  original.push_back(a);
  queue moved = std::move(original);
  EXPECT_TRUE(original.empty());
  moved.push_back(b);
  EXPECT_EQ(drained(moved), (order{1, 2}));
}

#ifndef NDEBUG
TEST(intrusive_queue, pushing_twice_is_caught_in_debug_builds) {
  item a(1), b(2);
  queue q;
  q.push_back(a);
  EXPECT_DEATH(q.push_back(a), "already in a queue");  // the last one, whose link is null
  q.push_back(b);
  EXPECT_DEATH(q.push_front(a), "already in a queue");
  EXPECT_EQ(drained(q), (order{1, 2}));
}
#endif

}  // namespace
