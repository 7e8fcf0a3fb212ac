#include <apps/weftd/check_batch.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <weft/base/format.hpp>

namespace weftd {
namespace {

/// What the operations of one kind of batch may say.
struct batch_words {
  std::span<const std::string_view> methods;
  std::span<const std::string_view> actions;
};

constexpr std::string_view post[] = {"POST"};
constexpr std::string_view post_or_delete[] = {"POST", "DELETE"};
constexpr std::string_view reading[] = {"pk-read"};
constexpr std::string_view writing[] = {"pk-write", "pk-update", "pk-insert"};
constexpr std::string_view removing[] = {"pk-delete"};

checked check_path(std::string_view url, const batch_words& known) {
  if (url.empty()) return refuse("the relativeUrl section is required");
  const auto path = split_path(url);
  if (!path || !std::ranges::contains(known.actions, path->action))
    return refuse(weft::format("Field validation for 'RelativeURL' failed: '{}' is not db/table/{}",
                               url, known.actions.front()));
  return check_names(path->database, path->table);
}

checked check_method(const operation_method& given, const batch_words& known) {
  const weft::json::lent_scalar& method = given.sent;
  if (!method.is_given() || (method.kind() == weft::json::scalar_kind::string &&
                             std::ranges::contains(known.methods, method.view())))
    return {};
  return refuse(weft::format("the Method section should be POST, not '{}'", method.view()));
}

template <class Body>
checked check_operation(const batched<Body>& asked, const batch_words& known,
                        const api_limits& limits, request_memory& memory) {
  if (auto fine = check_method(asked.method, known); !fine) return fine;
  const std::string_view url = asked.relative_url ? asked.relative_url->view() : std::string_view{};
  if (auto fine = check_path(url, known); !fine) return fine;
  if (!asked.body) return refuse("Field validation for 'Body' failed on the 'required' tag");
  return check(*asked.body, limits, memory);
}

template <class Operation>
checked check_batch(const batch_of<Operation>& asked, const batch_words& known,
                    const api_limits& limits, request_memory& memory) {
  if (!asked.operations || asked.operations->empty()) return refuse("No operations defined");
  for (const Operation& each : *asked.operations)
    if (auto fine = check_operation(each, known, limits, memory); !fine) return fine;
  return {};
}

/// What is wrong with the columns that an operation is to write; empty: nothing. Only pk-insert
/// needs none: its row may have a key, and defaults.
std::string_view wrong_content(std::string_view action, const pk_write_request& asked) noexcept {
  const bool has_content = asked.writeColumns && !asked.writeColumns->empty();
  if (action == "pk-delete") return has_content ? "a pk-delete has no writeColumns section" : "";
  return has_content || action == "pk-insert" ? "" : "the writeColumns section is empty";
}

checked check_contents(const batch_write_request& asked) {
  std::size_t number = 0;
  for (const write_operation& each : *asked.operations) {
    const auto path = split_path(each.relative_url->view());
    const std::string_view wrong = wrong_content(path->action, *each.body);
    if (!wrong.empty()) return refuse(weft::format("operation {}: {}", number, wrong));
    ++number;
  }
  return {};
}

/// The part behind the last slash, which `text` loses with it. libc++ looks for one from the end
/// character by character.
std::optional<std::string_view> take_last_part(std::string_view& text) noexcept {
  if (text.empty()) return std::nullopt;
  const void* const slash = ::memrchr(text.data(), '/', text.size());
  if (slash == nullptr) return std::exchange(text, {});
  const auto before = static_cast<std::size_t>(static_cast<const char*>(slash) - text.data());
  const std::string_view part = text.substr(before + 1);
  text = text.substr(0, before);
  return part;
}

}  // namespace

std::optional<operation_path> split_path(std::string_view relative_url) noexcept {
  const auto action = take_last_part(relative_url);
  const auto table = take_last_part(relative_url);
  const auto database = take_last_part(relative_url);
  if (!database) return std::nullopt;
  return operation_path{*database, *table, *action};
}

checked check_reads(const batch_read_request& asked, const api_limits& limits,
                    request_memory& memory) {
  return check_batch(asked, {post, reading}, limits, memory);
}

checked check_writes(const batch_write_request& asked, const api_limits& limits,
                     request_memory& memory) {
  if (auto fine = check_batch(asked, {post, writing}, limits, memory); !fine) return fine;
  return check_contents(asked);
}

checked check_deletes(const batch_write_request& asked, const api_limits& limits,
                      request_memory& memory) {
  if (auto fine = check_batch(asked, {post_or_delete, removing}, limits, memory); !fine)
    return fine;
  return check_contents(asked);
}

}  // namespace weftd
