// What a graph says of services that cannot be made.
#include <weft/service/service_graph.hpp>

#include <algorithm>
#include <utility>

#include <weft/base/format.hpp>

namespace weft::detail {
namespace {

constexpr std::size_t complaints_max = 20;
constexpr std::size_t path_max = 32;

/// Who needs it, as far as somebody does: the first of them, who is needed by ...
const service_record* first_consumer(const service_record& of) noexcept {
  if (of.asked_by != nullptr) return of.asked_by;
  for (const provision* each = &of.own; each != nullptr; each = each->further.get())
    if (each->consumers.first != nullptr) return each->consumers.first->consumer;
  return nullptr;
}

using path = std::vector<const service_record*>;

/// From somebody nobody needs to `last`.
path path_to(const service_record& last) {
  path found{&last};
  for (const service_record* at = first_consumer(last);
       at != nullptr && found.size() < path_max && !std::ranges::contains(found, at);
       at = first_consumer(*at))
    found.push_back(at);
  std::ranges::reverse(found);
  return found;
}

std::string text_of(const path& whole) {
  std::string text;
  for (const service_record* each : whole) {
    if (!text.empty()) text += " -> ";
    text += each->title();
  }
  return text;
}

std::string same_name(const interface_key& interface, std::string_view name) {
  return weft::format("two services are {0} \"{1}\": give each a name of its own, by .named()",
                      interface.name, name);
}

std::string how_to_add(const need_kind& wanted) {
  std::string text = weft::format("add<{}>()", wanted.interface->name);
  if (wanted.form == need_form::named) text += weft::format(".named(\"{}\")", wanted.name);
  return text;
}

}  // namespace

std::string service_graph::path_of(const service_record& last) { return text_of(path_to(last)); }

void service_graph::complain(errc why, std::string text) {
  if (outcome_) outcome_ = fail(why);
  if (complaints_.size() < complaints_max) complaints_.push_back(std::move(text));
}

void service_graph::complain_of_throw(service_record& record, std::string_view why) {
  complain(errc::invalid_argument, weft::format("{} cannot be made: {}", path_of(record), why));
  if (!changing_) return;
  record.hold = service_hold::failed;
  note_loss(record);
}

void service_graph::complain_of_missing(const service_record& consumer, const need_kind& wanted) {
  const path whole = path_to(consumer);
  std::string wish{wanted.interface->name};
  if (wanted.form == need_form::named) wish += weft::format(" \"{}\"", wanted.name);
  const std::size_t providers = slot_of(*wanted.interface).providers;
  std::string text =
      providers == 0 || wanted.form == need_form::named
          ? weft::format("{} needs {}, which nobody provides: {} is missing", consumer.title(),
                         wish, how_to_add(wanted))
          : weft::format(
                "{} needs {}, which {} services are: give all but one a name by .named(), and ask "
                "for those by weft::named<{}, \"...\">",
                consumer.title(), wish, providers, wish);
  if (whole.size() > 1) text += weft::format(" ({} -> {})", text_of(whole), wish);
  complain(errc::not_found, std::move(text));
}

/// What has been said of services, and cannot be.
void service_graph::tell_mistakes() {
  for (const wrong_binding& each : wrong_bindings_)
    complain(errc::invalid_argument, each.complaint);
  for (const interface_slot* const slot : crowded_) {
    hash_map<std::string_view, std::size_t> bearers;
    for (const provision* each = slot->all.first; each != nullptr; each = each->next)
      if (const std::string_view name = each->owner->given_name();
          !name.empty() && ++bearers[name] == 2)
        complain(errc::invalid_argument, same_name(*slot->interface, name));
  }
}

/// The same, of one that was added while the program runs: whoever had the name before keeps it.
bool service_graph::refuse_mistaken(service_record& record) {
  std::string mistake;
  for (const wrong_binding& each : wrong_bindings_)
    if (each.of == &record) mistake = each.complaint;
  const std::string_view name = record.given_name();
  for (provision* each = &record.own; each != nullptr && !name.empty(); each = each->further.get())
    if (const interface_slot& slot = slot_of(*each->interface);
        slot.is_crowded && slot.by_name->find(name)->second->owner != &record)
      mistake = same_name(*each->interface, name);
  if (mistake.empty()) return false;
  complain(errc::invalid_argument, std::move(mistake));
  record.hold = service_hold::failed;
  note_loss(record);
  return true;
}

/// Whether it waits to be made: it has been held up by nobody, and does not sleep.
bool service_graph::is_waiting(const service_record& one) noexcept {
  return one.connected && one.hold == service_hold::none && (!one.lazy || is_wanted(one));
}

void service_graph::complain_of_unmade() {
  for (service_record* at = waiting_.first; at != nullptr; at = at->next) {
    const service_record& consumer = *at;
    if (!is_waiting(consumer)) continue;
    for (std::size_t i = 0; i < consumer.kind->need_count; ++i) {
      const need_kind& wanted = consumer.kind->needs[i];
      const bool required = wanted.form == need_form::required || wanted.form == need_form::named;
      if (required && consumer.needs[i].provider == nullptr) complain_of_missing(consumer, wanted);
    }
  }
  if (outcome_) complain_of_circle();
}

/// All that is left needs something that is left: whoever follows that comes round.
void service_graph::complain_of_circle() {
  const auto unmade_need = [](const service_record& of) -> const service_record* {
    for (std::size_t i = 0; i < of.kind->need_count; ++i) {
      const need& each = of.needs[i];
      if (of.kind->needs[i].form == need_form::optional || each.provider == nullptr) continue;
      const service_record& owner = *each.provider->owner;
      if (each.provider->object == nullptr && (!owner.lazy || owner.passed)) return &owner;
    }
    return nullptr;
  };
  path followed;
  const service_record* at = waiting_.first;
  while (at != nullptr && !is_waiting(*at)) at = at->next;
  std::unordered_set<const service_record*> seen;
  while (at != nullptr && seen.insert(at).second) {
    followed.push_back(at);
    at = unmade_need(*at);
  }
  if (at == nullptr) return;  // only lazy ones, and who waits for what is stopped
  followed.erase(followed.begin(), std::ranges::find(followed, at));
  const std::size_t length = followed.size();
  if (length > path_max) followed.resize(path_max);
  complain(errc::invalid_argument,
           weft::format("services need each other in a circle{}: {} -> {}; let one of them ask for "
                        "weft::maybe<T>, or for what both need",
                        length > path_max ? weft::format(" of {}", length) : "", text_of(followed),
                        length > path_max ? "..." : at->title()));
}

result<void> service_graph::explain_unmade(const service_record& of) {
  const auto how = [](service_hold hold) {
    switch (hold) {
      case service_hold::stopped: return "is stopped";
      case service_hold::failed: return "has failed";
      case service_hold::replaced: return "has been replaced";
      case service_hold::none: break;
    }
    return "is not there";
  };
  outcome_ = {};
  complaints_.clear();
  for (std::size_t i = 0; i < of.kind->need_count; ++i) {
    const need_kind& wanted = of.kind->needs[i];
    if (wanted.form != need_form::required && wanted.form != need_form::named) continue;
    const provision* const provider = of.needs[i].provider;
    if (provider == nullptr)
      complain_of_missing(of, wanted);
    else if (provider->object == nullptr && (!provider->owner->lazy || provider->owner->passed))
      complain(errc::unavailable,
               weft::format("{} needs {}, which {}", of.title(), provider->owner->title(),
                            how(provider->owner->hold)));
  }
  if (outcome_) complain(errc::unavailable, weft::format("{} {}", of.title(), how(of.hold)));
  return outcome_;
}

}  // namespace weft::detail
