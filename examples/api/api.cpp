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
};

class store {
 public:
  using options = store_options;

  store(store_options options, http::server& server) : most_{options.notes} {
    using http::described;
    using enum http::status;
    server
        .get("/notes", described([this](http::query<search> q) { return find(*q); },
                                 {.summary = "Notes, and how many there are", .tags = {"notes"}}))
        .post("/notes",
              described(
                  [this](new_note sent) { return add(std::move(sent)); },
                  {.summary = "Keeps a note", .tags = {"notes"}, .errors = {service_unavailable}}))
        .get("/notes/{id}",
             described([this](http::path<note_key> at) { return get(at->id); },
                       {.summary = "One note", .tags = {"notes"}, .errors = {not_found}}))
        .put("/notes/{id}",
             described([this](http::path<note_key> at,
                              new_note sent) { return replace(at->id, std::move(sent)); },
                       {.summary = "Changes a note", .tags = {"notes"}, .errors = {not_found}}))
        .del("/notes/{id}",
             described([this](http::path<note_key> at) { return remove(at->id); },
                       {.summary = "Forgets a note", .tags = {"notes"}, .errors = {not_found}}));
  }

 private:
  [[nodiscard]] page find(const search& wanted) const {
    const auto fits = [&](const note& each) {
      return !wanted.tag || std::ranges::contains(each.tags, *wanted.tag);
    };
    page found{.notes = {}, .in_all = notes_.size()};
    const auto take = [&](const note& each) {
      if (found.notes.size() < wanted.limit.value_or(20) && fits(each)) found.notes.push_back(each);
    };
    if (wanted.sort == order::newest)
      std::ranges::for_each(notes_ | std::views::values | std::views::reverse, take);
    else
      std::ranges::for_each(notes_ | std::views::values, take);
    return found;
  }

  result<http::created<note>> add(new_note sent) {
    if (notes_.size() >= most_) return fail(errc::exhausted);
    ++last_;
    return http::created<note>{keep(last_, std::move(sent)), "/notes/" + std::to_string(last_)};
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
    if (notes_.erase(id) == 0) return fail(errc::not_found);
    return {};
  }

  note keep(std::uint64_t id, new_note sent) {
    note made{.id = id,
              .text = std::move(sent.text),
              .tags = std::move(sent.tags).value_or(std::vector<std::string>{})};
    notes_.insert_or_assign(id, made);
    return made;
  }

  std::size_t most_;
  std::map<std::uint64_t, note> notes_;
  std::uint64_t last_ = 0;
};

}  // namespace notes

int main(int argc, char** argv) {
  weft::application app{argc, argv, {.about = "Keeps notes, and says how to ask for them"}};
  weft::http::server_options server{.listen = "127.0.0.1:8085"};
  app.options().option("--listen", server.listen, "Address to serve on", "ADDRESS:PORT");
  app.options().stands_for("--listen", "http.server.listen");
  app.add<weft::http::server>(server);
  app.add<notes::store>();
  app.add<weft::http::openapi_page>({.title = "Notes", .description = "An example of weft"});
  return app.run();
}
