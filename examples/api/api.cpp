// A service that says what it takes and gives: typed routes, and the document that is made of them.
//
//   api --listen 127.0.0.1:8085
//   curl -d '{"text": "buy milk", "tags": ["home"]}' http://127.0.0.1:8085/notes
//   curl 'http://127.0.0.1:8085/notes?tag=home&limit=10'
//   curl 'http://127.0.0.1:8085/notes?limit=many'                     says what it is to be
//   curl http://127.0.0.1:8085/openapi.json                           for any tool that reads it
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <weft/http/openapi_page.hpp>
#include <weft/http/server.hpp>
#include <weft/service/application.hpp>

namespace notes {

using weft::errc;
using weft::fail;
using weft::result;
namespace http = weft::http;
namespace json = weft::json;

struct new_note {
  std::string text;
  std::optional<std::vector<std::string>> tags;
};

struct note {
  std::uint64_t id;
  std::string text;
  std::vector<std::string> tags;

  static constexpr json::description descriptions[] = {{"", "What somebody wants to remember"},
                                                       {"id", "Given by the service"}};
};

struct page {
  std::vector<note> notes;
  std::uint64_t in_all;
};

struct note_key {
  std::uint64_t id;
};

enum class order : std::uint8_t { oldest, newest };

struct search {
  std::optional<std::string> tag;
  std::optional<order> sort;
  std::optional<std::uint32_t> limit;

  static constexpr auto bounds() { return weft::bounds(weft::within<&search::limit>(1, 100)); }
  static constexpr json::description descriptions[] = {{"tag", "Only notes that have it"},
                                                       {"limit", "20, if it is not given"}};
};

struct store_options {
  std::size_t notes = 100'000;
  /// Of all texts and tags.
  std::size_t bytes = 64UL * 1024 * 1024;
};

/// The only one: all shards see the same notes, and change them in turn.
class store {
 public:
  using options = store_options;

  explicit store(store_options options) : bounds_{options} {}

  [[nodiscard]] page find(search wanted) const {
    page found{.notes = {}, .in_all = notes_.size()};
    const auto is_full = [&](const note& each) {
      if (!wanted.tag || std::ranges::contains(each.tags, *wanted.tag)) found.notes.push_back(each);
      return found.notes.size() == wanted.limit.value_or(20);
    };
    const auto all = notes_ | std::views::values;
    if (wanted.sort == order::newest)
      (void)std::ranges::any_of(all | std::views::reverse, is_full);
    else
      (void)std::ranges::any_of(all, is_full);
    return found;
  }

  result<http::created<note>> add(new_note sent) {
    if (notes_.size() >= bounds_.notes) return fail(errc::exhausted);
    auto kept = keep(last_ + 1, std::move(sent));
    if (!kept) return fail(kept.error());
    ++last_;
    return http::created<note>{std::move(*kept), "/notes/" + std::to_string(last_)};
  }

  [[nodiscard]] result<note> get(std::uint64_t id) const {
    const auto found = notes_.find(id);
    if (found == notes_.end()) return fail(errc::not_found);
    return found->second;
  }

  result<note> replace(std::uint64_t id, new_note sent) {
    if (!notes_.contains(id)) return fail(errc::not_found);
    return keep(id, std::move(sent));
  }

  result<void> remove(std::uint64_t id) {
    const auto found = notes_.find(id);
    if (found == notes_.end()) return fail(errc::not_found);
    bytes_ -= size_of(found->second);
    notes_.erase(found);
    return {};
  }

 private:
  static std::size_t size_of(const note& each) {
    std::size_t bytes = each.text.size();
    for (const std::string& tag : each.tags) bytes += sizeof(std::string) + tag.size();
    return bytes;
  }

  result<note> keep(std::uint64_t id, new_note sent) {
    note made{.id = id,
              .text = std::move(sent.text),
              .tags = std::move(sent.tags).value_or(std::vector<std::string>{})};
    const auto before = notes_.find(id);
    const std::size_t freed = before == notes_.end() ? 0 : size_of(before->second);
    const std::size_t bytes = bytes_ - freed + size_of(made);
    if (bytes > bounds_.bytes) return fail(errc::exhausted);
    notes_.insert_or_assign(id, made);
    bytes_ = bytes;
    return made;
  }

  store_options bounds_;
  std::map<std::uint64_t, note> notes_;
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 0;
};

/// One a shard.
class api {
 public:
  api(http::server& server, weft::remote<store>& notes) {
    using http::described;
    using enum http::status;
    const std::vector<http::status> bounded{service_unavailable};
    server
        .get("/notes", described(
                           [&notes](http::query<search> q) {
                             return notes.call(&store::find, std::move(*q));
                           },
                           {.summary = "Notes, and how many there are", .tags = {"notes"}}))
        .post(
            "/notes",
            described([&notes](new_note sent) { return notes.call(&store::add, std::move(sent)); },
                      {.summary = "Keeps a note", .tags = {"notes"}, .errors = bounded}))
        .get(
            "/notes/{id}",
            described([&notes](http::path<note_key> at) { return notes.call(&store::get, at->id); },
                      {.summary = "One note", .tags = {"notes"}, .errors = {not_found}}))
        .put("/notes/{id}", described(
                                [&notes](http::path<note_key> at, new_note sent) {
                                  return notes.call(&store::replace, at->id, std::move(sent));
                                },
                                {.summary = "Changes a note",
                                 .tags = {"notes"},
                                 .errors = {not_found, service_unavailable}}))
        .del("/notes/{id}",
             described(
                 [&notes](http::path<note_key> at) { return notes.call(&store::remove, at->id); },
                 {.summary = "Forgets a note", .tags = {"notes"}, .errors = {not_found}}));
  }
};

}  // namespace notes

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "Keeps notes, and says how to ask for them"}};
  weft::http::server_options server{.listen = "127.0.0.1:8085",
                                    .limits = {.body_bytes = 64UL * 1024}};
  app.options().option("--listen", server.listen, "Address to serve on", "ADDRESS:PORT");
  app.options().stands_for("--listen", "http.server.listen");
  app.add<weft::http::server>(server);
  app.add<notes::store>().single();
  app.add<notes::api>();
  app.add<weft::http::openapi_page>({.title = "Notes", .description = "An example of weft"});
  return app.run();
}
