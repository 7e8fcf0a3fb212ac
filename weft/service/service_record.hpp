// Internal to the container: what it knows of one service, in one block with the service itself.
//
// Contract: a record has a need for each service its constructor asks for and a provision for each
// interface it is; a need stands in the list of whom it has found (provision) or of those that
// still look (interface_slot). Links are plain pointers, so that a whole graph is taken down
// without touching a neighbour. Nothing here is known to services.
//
//   service_block<T> = service_record | needs | options | T
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <weft/base/assert.hpp>
#include <weft/base/hash_map.hpp>
#include <weft/base/result.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/task.hpp>
#include <weft/service/event_listener.hpp>
#include <weft/service/interface_key.hpp>
#include <weft/service/lifetime.hpp>
#include <weft/service/service_property.hpp>

namespace weft::detail {

class service_record;
struct provision;
struct interface_slot;

enum class need_form : std::uint8_t {
  required,  // T&
  named,     // named<T, "n">: required, and a certain one
  optional,  // maybe<T>
  all,       // many<T>
};

/// Items in the order in which they came, linked through themselves: the first one's `previous` is
/// the last. Unlike an intrusive_list, it may be left as it is when it ends.
template <class T>
struct plain_list {
  T* first = nullptr;

  void push_back(T& added) noexcept {
    added.next = nullptr;
    if (first == nullptr) {
      added.previous = first = &added;
      return;
    }
    added.previous = first->previous;
    first->previous->next = &added;
    first->previous = &added;
  }
  void push_front(T& added) noexcept {
    if (first == nullptr) return push_back(added);
    added.next = first;
    added.previous = first->previous;
    first->previous = &added;
    first = &added;
  }
  /// `added` where `left` was.
  void replace(T& left, T& added) noexcept {
    added.next = left.next;
    added.previous = &left == first && left.next == nullptr ? &added : left.previous;
    (&left == first ? first : left.previous->next) = &added;
    if (left.next != nullptr)
      left.next->previous = &added;
    else
      first->previous = &added;
  }
  void erase(T& left) noexcept {
    T* const before = left.previous;
    T* const after = left.next;
    (&left == first ? first : before->next) = after;
    if (after != nullptr)
      after->previous = before;
    else if (first != nullptr)
      first->previous = before;
  }

  [[nodiscard]] bool empty() const noexcept { return first == nullptr; }
  // nullptr: there is none.
  [[nodiscard]] T* last() const noexcept { return first == nullptr ? nullptr : first->previous; }
  [[nodiscard]] T* before(const T& one) const noexcept {
    return &one == first ? nullptr : one.previous;
  }
};

/// What a constructor says of one of its parameters.
struct need_kind {
  interface_key* interface = nullptr;  // nullptr: of the record itself, as lifetime&
  need_form form = need_form::required;
  std::string_view name{};
};

/// One parameter of one service.
struct need {
  provision* provider = nullptr;  // whom it has found
  service_record* consumer = nullptr;
  need* next = nullptr;  // of the same provision, or of those in a slot that look
  need* previous = nullptr;
  interface_slot* slot = nullptr;  // from connecting on
};

/// One interface of one service.
struct provision {
  void* object = nullptr;  // as the interface; nullptr: not made, or stopped
  service_record* owner = nullptr;
  interface_key* interface = nullptr;
  void* (*cast)(void*) noexcept = nullptr;  // nullptr: the service is the interface
  plain_list<need> consumers;
  provision* next = nullptr;  // of the same interface
  provision* previous = nullptr;
  std::unique_ptr<provision> further;  // of the same service

  /// What is the interface instead of it, which is in no slot; nullptr: it is that itself.
  [[nodiscard]] provision* stand_in() const noexcept {
    return previous == nullptr ? next : nullptr;
  }
  /// Once it has left its slot.
  void leave_place_to(provision& other) noexcept {
    previous = nullptr;
    next = &other;
  }
};

/// One interface: who is it, and who looks for it.
struct interface_slot {
  interface_key* interface = nullptr;
  plain_list<provision> all;  // in the order of add()
  std::size_t providers = 0;
  provision* unnamed = nullptr;  // the first of those
  std::size_t unnamed_count = 0;
  std::unique_ptr<hash_map<std::string_view, provision*>> by_name;
  bool is_crowded = false;      // two have had one name
  bool is_in_question = false;  // and nobody has been told of it yet
  plain_list<need> looking;
  std::unique_ptr<event> awaited;              // somebody waits until one has started
  std::unique_ptr<event_listeners> followers;  // somebody has asked to be told who comes and goes

  /// False: another one has its name, which is found by it.
  bool push_back(provision& added);
  void erase(provision& left) noexcept;
  /// Both are of services with one name, or both of such without.
  void replace(provision& left, provision& added) noexcept;
};

/// start() or stop(), of one of the two shapes; neither: there is none.
struct service_step {
  result<void> (*now)(void*) = nullptr;
  task<result<void>> (*later)(void*) = nullptr;
};

/// What is the same for all services of a type.
struct service_kind {
  std::string_view name;
  const need_kind* needs = nullptr;
  std::uint16_t need_count = 0;
  /// Makes the object in its block and gives its address; what its constructor throws leaves.
  void* (*make)(service_record&) = nullptr;
  void (*destroy)(service_record&) noexcept = nullptr;
  void (*release)(service_record&) noexcept = nullptr;
  /// Another block with the same options; nullptr: they cannot be copied.
  service_record* (*copy)(const service_record&) = nullptr;
  service_step start{};
  service_step stop{};
  std::size_t (*connections)(const void*) = nullptr;  // nullptr: there is none
  result<void> (*reload)(void*) = nullptr;            // nullptr: there is none
};

enum class service_state : std::uint8_t { added, made, started };

/// Why a service stays down though all it needs is there.
enum class service_hold : std::uint8_t {
  none,
  failed,    // it threw or did not start: until what it needs has come anew, or somebody starts it
  replaced,  // another is all that it was
  stopped,   // somebody stopped it: until somebody starts it
};

class service_record : public lifetime {
 public:
  service_record(const service_kind& of, interface_key& interface) noexcept
      : lifetime{of.name}, kind{&of} {
    own.owner = this;
    own.interface = &interface;
  }

  /// How messages call it: the type's name, and its own if it has one.
  [[nodiscard]] std::string title() const;

  /// By named(); empty: none.
  [[nodiscard]] std::string_view given_name() const noexcept {
    return own_name == nullptr ? std::string_view{} : *own_name;
  }

  /// What its constructor says of one of its needs.
  [[nodiscard]] const need_kind& kind_of(const need& one) const noexcept {
    return kind->needs[&one - needs];
  }

  /// How many needs of the form of `one` are not there: while it is not made.
  [[nodiscard]] std::uint16_t& open_needs(const need& one) noexcept {
    return kind_of(one).form == need_form::optional ? hoped_for : missing;
  }

  const service_kind* kind;
  need* needs = nullptr;
  provision own;
  service_record* next = nullptr;  // among those to be made, or those made
  service_record* previous = nullptr;
  service_record* next_ready = nullptr;   // in the queue of those that can be made
  void* object = nullptr;                 // from making on
  const std::string* own_name = nullptr;  // among the graph's
  std::unique_ptr<service_property> properties;
  const service_record* asked_by = nullptr;  // of an instance per consumer
  std::uint64_t made_as = 0;                 // the how manieth of all makings; 0: never made
  std::uint32_t index = 0;                   // among the container's handles
  std::uint16_t missing = 0;                 // required needs that are not made
  std::uint16_t hoped_for = 0;               // optional needs that will be and are not yet
  service_state state = service_state::added;
  service_hold hold = service_hold::none;
  bool queued = false;
  bool going = false;          // among those that a change takes down
  bool is_interfaces = false;  // as<I>() has been said: no longer its own type
  bool connected : 1 = false;
  bool passed : 1 = false;  // its turn came before it could be made
  bool has_handle : 1 = false;
  bool stands_in : 1 = false;  // for somebody, whose handle names it now
  bool is_bound : 1 = false;   // bind() has named it
  bool per_consumer : 1 = false;
  bool lazy : 1 = false;       // made only while somebody needs it
  bool asked_for : 1 = false;  // by who changes it now

 protected:
  /// The block's needs are this record's.
  void adopt(std::span<need> of_block) noexcept {
    needs = of_block.data();
    for (need& each : of_block) each.consumer = this;
  }
};

}  // namespace weft::detail
