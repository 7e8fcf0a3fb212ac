// Internal to the container: who needs whom, and the order in which they are made.
//
// Contract: insert() takes over a record; from then on it can be found by its interfaces.
// make_all() makes what is not made yet: in the order of insertion where needs allow, else when the
// last of its needs has been made. Each record and each need is looked at a bounded number of
// times, and nothing recurses but per-consumer services that need such, whose depth is limited.
// What cannot be made is told with its path and what to do about it. What has been made can be
// unmade: then those who need it wait for it again, and who is optional reads as null. A change
// looks only at those whom it concerns and their needs. One shard.
//
//   graph.insert(*new service_block<ping_api>{kind_of<ping_api>, {}});
//   if (auto made = graph.make_all(); !made) log(graph.complaints());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/result.hpp>
#include <weft/service/service_description.hpp>
#include <weft/service/service_follower.hpp>
#include <weft/service/service_record.hpp>

namespace weft {

/// Names a service of a container; of none, once that has gone.
struct service_handle {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  // 0: never named anything
  friend bool operator==(service_handle, service_handle) noexcept = default;
};

namespace detail {

class service_graph {
 public:
  using records = plain_list<service_record>;

  service_graph() noexcept;
  service_graph(const service_graph&) = delete;
  service_graph& operator=(const service_graph&) = delete;
  /// Ends what has been made, the last first.
  ~service_graph();

  service_handle insert(service_record& added);
  /// As insert(), of what is there already, and is not destroyed.
  void lend(service_record& added, void* object);
  /// nullptr: it has gone.
  [[nodiscard]] service_record* find(service_handle named) const noexcept;
  /// Of who is `interface` and has this name, or is it for who asks without one.
  [[nodiscard]] std::optional<service_handle> handle_of(interface_key& interface,
                                                        std::string_view name) const;

  // Before the record is made.

  /// It is `interface`, instead of its own type the first time.
  void provide_as(service_record& record, interface_key& interface, void* (*cast)(void*) noexcept);
  void name(service_record& record, std::string_view name);
  void make_per_consumer(service_record& record);
  void make_lazy(service_record& record) noexcept;
  /// Once services are made, it is the `interface` with this name, or the one that `T&` means,
  /// instead of who was that.
  void stand_in(service_record& record, interface_key& interface, void* (*cast)(void*) noexcept,
                std::string_view name);
  /// Whoever needs `interface` in `record` gets `provider`. Asserts that somebody does; that the
  /// provider is no `interface` is told when services are made.
  void bind(service_record& record, interface_key& interface, service_handle provider);

  [[nodiscard]] result<void> make_all();
  /// Why make_all() failed, a line each.
  [[nodiscard]] const std::vector<std::string>& complaints() const noexcept { return complaints_; }

  // While the program runs (service_graph_changes.cpp).

  /// Makes `first`, what they need that nobody has looked at yet, and all that has waited for what
  /// comes. Who throws stays down, and the others go on.
  result<void> make_more(const std::vector<service_record*>& first);
  /// `one`, and the instances that were made for it alone.
  [[nodiscard]] static std::vector<service_record*> with_instances(service_record& one);
  /// Of `roots` and all who cannot be without them those that are made, the last made first.
  [[nodiscard]] static std::vector<service_record*> with_dependants(
      const std::vector<service_record*>& roots);
  /// All but those that are lent, the last made first.
  [[nodiscard]] std::vector<service_record*> made_services();
  /// Nobody finds it any more, except those who hold a reference.
  void hide(service_record& going) noexcept;
  /// Destroys the object of one that is hidden, and that nobody made needs; it can be made again.
  void unmake(service_record& gone) noexcept;
  /// Whether take_unneeded() has anybody to look at.
  [[nodiscard]] bool may_have_unneeded() const noexcept { return !losing_.empty(); }
  /// Those who are lazy, and have been made in vain or have lost who needed them: what nobody needs
  /// now, the last made first. Not `wanted`, and not who is `asking` or has called who is: they
  /// are looked at another time.
  [[nodiscard]] std::vector<service_record*> take_unneeded(const service_record* wanted,
                                                           const environment& asking);
  /// Who is not made need not wait for anybody any more.
  void note_loss(const service_record& of);
  /// Of one that is not made: its handle names nobody any more. Who needed it looks for another.
  void erase(service_record& gone);
  /// Why it is not made, which it is not: in complaints(), and as an error.
  [[nodiscard]] result<void> explain_unmade(const service_record& of);
  /// Who is `interface` and has started; nullptr: nobody has.
  [[nodiscard]] void* started(interface_key& interface) const noexcept;
  /// Set, and reset, when somebody who is `interface` has started.
  [[nodiscard]] event& next_start(interface_key& interface);
  void tell_started(service_record& up) noexcept;
  /// Tells those who follow, before their stop(), which of `going` have started.
  void tell_leaving(std::span<service_record* const> going) noexcept;
  /// `added` hears who is `interface`: of those who have started at once, of others when they do.
  [[nodiscard]] event_registration follow(interface_key& interface,
                                          std::unique_ptr<service_follower> added, lifetime* owner);
  /// For who begins to follow.
  [[nodiscard]] std::uint64_t departures() const noexcept { return departures_; }
  /// Lets all who await next_start() look again.
  void wake_all() noexcept;

  /// Who is `interface` for somebody who asks without a name; nullptr: nobody, or several are.
  [[nodiscard]] const provision* find(interface_key& interface) const noexcept {
    return find({&interface, need_form::required, {}});
  }
  [[nodiscard]] const provision* find(const need_kind& wanted) const noexcept;

  // What is made, in the order of making; nullptr: no more.

  [[nodiscard]] service_record* last_made() noexcept { return made_.last(); }
  /// nullptr for the first.
  [[nodiscard]] service_record* made_after(service_record* one) noexcept {
    return one == nullptr ? made_.first : one->next;
  }
  [[nodiscard]] service_record* made_before(service_record& one) noexcept {
    return made_.before(one);
  }

  /// All there are: those that are made in the order of their making, the others, and what is per
  /// consumer (service_graph_description.cpp).
  [[nodiscard]] std::vector<service_description> describe() const;

  /// From somebody nobody needs to `last`: "a -> b -> last".
  [[nodiscard]] static std::string path_of(const service_record& last);

 private:
  struct pending_stand_in {
    std::unique_ptr<provision> by;
    std::string name;
  };
  struct place_of_handle {
    service_record* record;
    std::uint32_t generation;
  };

  [[nodiscard]] interface_slot& slot_of(interface_key& interface);
  void enter(provision& added);
  void tell_mistakes();
  [[nodiscard]] bool refuse_mistaken(service_record& record);
  void put_in_stand_ins();
  [[nodiscard]] bool put_in(pending_stand_in& one);
  [[nodiscard]] static provision* in_place_of(provision* bound) noexcept;
  void forget_stand_in(const service_record& gone);
  void look_again();
  void pass_over();
  void try_make(service_record& record);
  [[nodiscard]] bool can_be_made(const service_record& record) const noexcept;
  [[nodiscard]] bool goes_on() const noexcept { return outcome_.has_value() || changing_; }
  void consider(service_record& record);
  [[nodiscard]] static bool is_wanted(const service_record& lazy) noexcept;
  void wake_needs(const service_record& of) noexcept;
  [[nodiscard]] static bool is_waiting(const service_record& one) noexcept;
  void queue(service_record& record) noexcept;
  void queue_needs(const service_record& of) noexcept;
  void drain();
  void connect(service_record& consumer);
  [[nodiscard]] static provision* choose(const interface_slot& slot,
                                         const need_kind& wanted) noexcept;
  [[nodiscard]] std::vector<const service_record*> providers_of(const need& asking,
                                                                const need_kind& wanted) const;
  void link(need& asking, provision& found);
  [[nodiscard]] provision* instance_for(service_record& consumer, const provision& of);
  void make(service_record& record);
  void arrived(need& awaited);
  void free_handle(std::uint32_t index);
  void unlink_needs(service_record& of) noexcept;
  void unlink_consumers(provision& of);
  void unbind(const service_record& from) noexcept;
  void complain(errc why, std::string text);
  void complain_of_throw(service_record& record, std::string_view why);
  void complain_of_missing(const service_record& consumer, const need_kind& wanted);
  void complain_of_circle();
  void complain_of_unmade();

  std::vector<std::unique_ptr<interface_slot>> slots_;  // by number of interface
  std::vector<interface_slot*> grown_;                  // somebody looked there before
  std::vector<place_of_handle> handles_;
  std::vector<std::uint32_t> free_handles_;  // of those that were removed
  std::unordered_set<std::string> names_;
  std::vector<pending_stand_in> stand_ins_;
  struct wrong_binding {
    const service_record* of;
    std::string complaint;
  };
  std::vector<wrong_binding> wrong_bindings_;
  std::vector<interface_slot*> crowded_;  // two may have one name there
  std::uint32_t first_generation_;        // of handles; no other container's, as far as they go
  records waiting_;                       // to be made, in the order of insertion
  records made_;
  records patterns_;                  // per consumer: only their copies are made
  service_record* cursor_ = nullptr;  // the next of waiting_ to be looked at
  intrusive_queue<service_record, &service_record::next_ready> ready_;
  std::vector<service_record*> hoping_;  // lack what is optional only, in a change
  std::uint64_t makings_ = 0;
  std::size_t awaited_count_ = 0;  // slots in which somebody has awaited a start
  std::uint32_t follower_count_ = 0;
  std::uint64_t departures_ = 0;         // how often services went that somebody may follow
  std::vector<service_record*> losing_;  // lazy ones that may have nobody left
  bool has_lazy_ = false;
  bool changing_ = false;  // make_more() runs
  bool hopeless_ = false;  // nobody waits for what is optional any more
  result<void> outcome_;
  std::vector<std::string> complaints_;
};

}  // namespace detail

}  // namespace weft
