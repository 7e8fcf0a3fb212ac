// What a constructor may ask for besides `T&`: what need not be there, all there are, a certain
// one, and who asked.
//
// Contract: maybe<T> and many<T> show who is there at the moment they are asked, so ask each time;
// nobody is there before its constructor has ended, nor from when it stops. A maybe<T> is made
// after the T, if there is to be one and no circle forbids it; a many<T> waits for nobody. named<T,
// "n"> is a T& and as safe. All are values, to be kept as members, and end with the service that
// asked. One shard.
//
//   api(maybe<cache> near, many<check> checks, named<store, "orders"> orders, consumer me);
//   if (near) near->drop(key);
//   for (check& each : checks) each.run();
//   const auto is_disk = [](const service_info& of) { return of.name() == "disk"; };
//   for (check& each : checks.where(is_disk)) each.run();
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/service/service_info.hpp>
#include <weft/service/service_record.hpp>

namespace weft {

namespace detail {
template <class P>
struct parameter;
}

/// A name in angle brackets: named<store, "orders">.
template <std::size_t Size>
struct fixed_name {
  consteval fixed_name(const char (&given)[Size]) { std::ranges::copy(given, text); }  // NOLINT
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {text, Size - 1}; }
  char text[Size]{};
};

/// A T if there is one now, else nullptr.
template <class T>
class maybe {
 public:
  maybe() noexcept = default;

  [[nodiscard]] T* get() const noexcept {
    const bool there = need_ != nullptr && need_->provider != nullptr;
    return there ? static_cast<T*>(need_->provider->object) : nullptr;
  }
  [[nodiscard]] explicit operator bool() const noexcept { return get() != nullptr; }
  T* operator->() const noexcept { return get(); }
  T& operator*() const noexcept { return *get(); }

 private:
  friend struct detail::parameter<maybe>;
  explicit maybe(const detail::need& found) noexcept : need_{&found} {}
  const detail::need* need_ = nullptr;
};

/// All that are a T now, in the order of add().
template <class T>
class many {
 public:
  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    iterator() noexcept = default;
    T& operator*() const noexcept { return *static_cast<T*>(at_->object); }
    T* operator->() const noexcept { return static_cast<T*>(at_->object); }
    iterator& operator++() noexcept {
      at_ = at_->next;
      skip_absent();
      return *this;
    }
    iterator operator++(int) noexcept {
      const iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(iterator, iterator) noexcept = default;

    /// What has been said of it.
    [[nodiscard]] service_info info() const noexcept { return service_info{*at_->owner}; }

   private:
    friend class many;
    explicit iterator(const detail::provision* at) noexcept : at_{at} { skip_absent(); }
    void skip_absent() noexcept {
      while (at_ != nullptr && at_->object == nullptr) at_ = at_->next;
    }
    const detail::provision* at_ = nullptr;
  };

  many() noexcept = default;

  [[nodiscard]] iterator begin() const noexcept {
    return slot_ == nullptr ? iterator{} : iterator{slot_->all.first};
  }
  [[nodiscard]] iterator end() const noexcept { return iterator{}; }
  [[nodiscard]] bool empty() const noexcept { return begin() == end(); }

  template <class Filter>
  class chosen;
  /// Those of which `takes(const service_info&)` is true.
  template <class Filter>
  [[nodiscard]] chosen<Filter> where(Filter takes) const {
    return chosen<Filter>{*this, std::move(takes)};
  }

 private:
  friend struct detail::parameter<many>;
  explicit many(const detail::interface_slot& all) noexcept : slot_{&all} {}
  const detail::interface_slot* slot_ = nullptr;
};

template <class T>
template <class Filter>
class many<T>::chosen {
 public:
  chosen(many all, Filter takes) : all_{all}, takes_{std::move(takes)} {}

  class iterator {
   public:
    iterator(many::iterator at, Filter& takes) : at_{at}, takes_{&takes} { skip_refused(); }
    T& operator*() const noexcept { return *at_; }
    iterator& operator++() {
      ++at_;
      skip_refused();
      return *this;
    }
    friend bool operator==(const iterator& one, std::default_sentinel_t) noexcept {
      return one.at_ == many::iterator{};
    }

   private:
    void skip_refused() {
      while (at_ != many::iterator{} && !(*takes_)(at_.info())) ++at_;
    }
    many::iterator at_;
    Filter* takes_;
  };

  [[nodiscard]] iterator begin() { return iterator{all_.begin(), takes_}; }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

 private:
  many all_;
  Filter takes_;
};

/// The T that was added with this name.
template <class T, fixed_name Name>
class named {
 public:
  [[nodiscard]] T& get() const noexcept { return *object_; }
  operator T&() const noexcept { return *object_; }  // NOLINT: it is a T&
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }

 private:
  friend struct detail::parameter<named>;
  explicit named(T& object) noexcept : object_{&object} {}
  T* object_;
};

/// Who asked for this instance, of a service that is made per_consumer(). Of any other: nobody.
struct consumer {
  std::string_view type;
  std::string_view name;  // empty: it has none of its own
};

namespace detail {

template <class P>
struct parameter<P&> {
  static constexpr need_kind kind{&key_of<P>, need_form::required, {}};
  static P& from(service_record&, const need& found) noexcept {
    return *static_cast<P*>(found.provider->object);
  }
};

template <>
struct parameter<lifetime&> {
  static constexpr need_kind kind{};
  static lifetime& from(service_record& self) noexcept { return self; }
};

template <>
struct parameter<consumer> {
  static constexpr need_kind kind{};
  static consumer from(service_record& self) noexcept {
    if (self.asked_by == nullptr) return {};
    return {self.asked_by->kind->name, self.asked_by->given_name()};
  }
};

template <class T>
struct parameter<maybe<T>> {
  static constexpr need_kind kind{&key_of<T>, need_form::optional, {}};
  static maybe<T> from(service_record&, const need& found) noexcept { return maybe<T>{found}; }
};

template <class T>
struct parameter<many<T>> {
  static constexpr need_kind kind{&key_of<T>, need_form::all, {}};
  static many<T> from(service_record&, const need& found) noexcept { return many<T>{*found.slot}; }
};

template <class T, fixed_name Name>
struct parameter<named<T, Name>> {
  static constexpr need_kind kind{&key_of<T>, need_form::named, Name.view()};
  static named<T, Name> from(service_record&, const need& found) noexcept {
    return named<T, Name>{*static_cast<T*>(found.provider->object)};
  }
};

}  // namespace detail

}  // namespace weft
