// Lists whose links live in the items, so that queueing something never allocates.
//
// Problem: waiters, timers and connections join and leave queues all the time; a container of
// pointers would allocate for each and could not remove one in O(1) from the middle. Contract: the
// list owns nothing; an item must outlive its membership and stay where it is while linked. One
// hook is in at most one list at a time; an item may have several hooks. All operations are O(1);
// there is no size. Debug builds check that what goes in is unlinked, what comes out is linked, and
// that neither a linked hook nor a filled list is destroyed. A list_link in place of the hook
// checks nothing and does not know whether it is linked, which spares the two writes that tell.
// Single thread.
//
//   struct waiter { weft::list_hook hook; };
//   weft::intrusive_list<waiter, &waiter::hook> waiters;
//   waiters.push_back(w);
//   while (waiter* next = waiters.pop_front()) resume(*next);
#pragma once

#include <weft/base/assert.hpp>

#include <cstddef>
#include <utility>

namespace weft {

// The link inside an item of which others know when it is linked. Neither copied nor moved:
// neighbours point at it.
class list_link {
 public:
  list_link() noexcept {}  // NOLINT(modernize-use-equals-default): `{}` would write zeroes
  list_link(const list_link&) = delete;
  list_link& operator=(const list_link&) = delete;

  // Takes the item out of the list that holds it: there must be one.
  void unlink() noexcept {
    previous_->next_ = next_;
    next_->previous_ = previous_;
  }

 protected:
  template <class T, auto Hook>
  friend class intrusive_list;

  void expect_outside() const noexcept {}
  void forget_list() noexcept {}

  list_link* previous_;
  list_link* next_;
};

// The link that knows whether it is linked.
class list_hook : public list_link {
 public:
  list_hook() noexcept { forget_list(); }
  ~list_hook() {
    WEFT_DEBUG_ASSERT(!is_linked(), "take the item out of its list before destroying it");
  }

  [[nodiscard]] bool is_linked() const noexcept { return next_ != nullptr; }

  // Takes the item out of whichever list holds it.
  void unlink() noexcept {
    WEFT_DEBUG_ASSERT(is_linked(), "the item is in no list");
    list_link::unlink();
    forget_list();
  }

 private:
  template <class T, auto Hook>
  friend class intrusive_list;

  void expect_outside() const noexcept {
    WEFT_DEBUG_ASSERT(!is_linked(), "the item is already in a list");
  }
  void forget_list() noexcept { previous_ = next_ = nullptr; }
};

namespace detail {

template <class Owner, class Member>
Owner member_owner(Member Owner::*);

// The item around a hook. A pointer to a data member is its offset in the ABI that every Linux
// compiler follows (Itanium C++ ABI, 2.3), which spares the undefined arithmetic on a null object.
template <class T, auto Hook>
[[nodiscard]] T* item_of(list_link* hook) noexcept {
  using owner = decltype(member_owner(Hook));  // T, or the base of T that has the hook
  static_assert(sizeof(Hook) == sizeof(std::ptrdiff_t));
  auto* const bytes = reinterpret_cast<std::byte*>(hook) - __builtin_bit_cast(std::ptrdiff_t, Hook);
  return static_cast<T*>(reinterpret_cast<owner*>(bytes));
}

}  // namespace detail

// Doubly linked: an item leaves from anywhere. `Hook` is a pointer to the list_hook, or the
// list_link, inside T.
template <class T, auto Hook>
class intrusive_list {
 public:
  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    iterator() noexcept = default;
    T& operator*() const noexcept { return *detail::item_of<T, Hook>(at_); }
    T* operator->() const noexcept { return detail::item_of<T, Hook>(at_); }
    iterator& operator++() noexcept {
      at_ = at_->next_;
      return *this;
    }
    iterator operator++(int) noexcept { return iterator(std::exchange(at_, at_->next_)); }
    friend bool operator==(iterator, iterator) noexcept = default;

   private:
    friend class intrusive_list;
    explicit iterator(list_link* at) noexcept : at_(at) {}

    list_link* at_ = nullptr;
  };

  intrusive_list() noexcept { root_.previous_ = root_.next_ = &root_; }
  intrusive_list(intrusive_list&& other) noexcept : intrusive_list() { splice_back(other); }
  intrusive_list& operator=(intrusive_list&&) = delete;

  ~intrusive_list() { WEFT_DEBUG_ASSERT(empty(), "empty the list before destroying it"); }

  [[nodiscard]] bool empty() const noexcept { return root_.next_ == &root_; }

  // The first or last item; nullptr when empty.
  [[nodiscard]] T* front() noexcept { return empty() ? nullptr : owner_of(root_.next_); }
  [[nodiscard]] T* back() noexcept { return empty() ? nullptr : owner_of(root_.previous_); }

  void push_back(T& item) noexcept { link_before(root_, item.*Hook); }
  void push_front(T& item) noexcept { link_before(*root_.next_, item.*Hook); }
  // In front of `position`; end() is behind the last.
  void insert(iterator position, T& item) noexcept { link_before(*position.at_, item.*Hook); }

  // Takes out the first item and gives it; nullptr when empty.
  T* pop_front() noexcept {
    list_link* const first = root_.next_;
    if (first == &root_) return nullptr;
    // As erase() does, but by what is known of the first one: no store waits for its links.
    root_.next_ = first->next_;
    first->next_->previous_ = &root_;
    T* const item = owner_of(first);
    (item->*Hook).forget_list();
    return item;
  }

  // Takes out an item of this list. While iterating, advance past an item before erasing it.
  void erase(T& item) noexcept { (item.*Hook).unlink(); }

  // Moves all of `other`, in order, behind the last item here.
  void splice_back(intrusive_list& other) noexcept {
    if (&other == this || other.empty()) return;
    list_link* const first = other.root_.next_;
    list_link* const last = other.root_.previous_;
    other.root_.previous_ = other.root_.next_ = &other.root_;
    first->previous_ = root_.previous_;
    root_.previous_->next_ = first;
    last->next_ = &root_;
    root_.previous_ = last;
  }

  [[nodiscard]] iterator begin() noexcept { return iterator(root_.next_); }
  [[nodiscard]] iterator end() noexcept { return iterator(&root_); }

 private:
  static T* owner_of(list_link* hook) noexcept { return detail::item_of<T, Hook>(hook); }

  template <class Link>
  static void link_before(list_link& position, Link& added) noexcept {
    added.expect_outside();
    list_link& hook = added;
    hook.previous_ = position.previous_;
    hook.next_ = &position;
    position.previous_->next_ = &hook;
    position.previous_ = &hook;
  }

  list_link root_;  // closes the ring, so that no operation has a special case at the ends
};

// Singly linked first-in, first-out: one pointer per item. `Next` is a pointer to the T* inside T,
// which is null while the item is outside (and in the last item).
//
//   struct job { job* next = nullptr; };
//   weft::intrusive_queue<job, &job::next> ready;
template <class T, auto Next>
class intrusive_queue {
 public:
  intrusive_queue() noexcept = default;
  intrusive_queue(intrusive_queue&& other) noexcept
      : head_(std::exchange(other.head_, nullptr)), tail_(std::exchange(other.tail_, nullptr)) {}
  intrusive_queue& operator=(intrusive_queue&&) = delete;
  ~intrusive_queue() { WEFT_DEBUG_ASSERT(empty(), "empty the queue before destroying it"); }

  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }

  // The first item; nullptr when empty.
  [[nodiscard]] T* front() const noexcept { return head_; }

  void push_back(T& item) noexcept {
    expect_outside(item);
    (tail_ == nullptr ? head_ : tail_->*Next) = &item;
    tail_ = &item;
  }

  void push_front(T& item) noexcept {
    expect_outside(item);
    item.*Next = head_;
    head_ = &item;
    if (tail_ == nullptr) tail_ = &item;
  }

  // Takes out the first item and gives it; nullptr when empty.
  T* pop_front() noexcept {
    T* const first = head_;
    if (first == nullptr) return nullptr;
    head_ = std::exchange(first->*Next, nullptr);
    if (head_ == nullptr) tail_ = nullptr;
    return first;
  }

  // Moves all of `other`, in order, behind the last item here.
  void splice_back(intrusive_queue& other) noexcept {
    if (&other == this || other.empty()) return;
    (tail_ == nullptr ? head_ : tail_->*Next) = std::exchange(other.head_, nullptr);
    tail_ = std::exchange(other.tail_, nullptr);
  }

 private:
  void expect_outside([[maybe_unused]] T& item) const noexcept {
    WEFT_DEBUG_ASSERT(item.*Next == nullptr && tail_ != &item, "the item is already in a queue");
  }

  T* head_ = nullptr;
  T* tail_ = nullptr;
};

}  // namespace weft
