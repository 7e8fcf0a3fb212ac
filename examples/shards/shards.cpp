// Counts words on all shards: each has a part of the counters, and words cross to the shard that
// counts them.
//
//   shards 4 "to be or not to be"
#include <charconv>
#include <cstdio>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <weft/loop/runtime.hpp>
#include <weft/loop/sharded.hpp>

namespace {

using counters = std::map<std::string, int>;  // one shard's: no lock

weft::task<weft::result<void>> count(std::string text, unsigned shards) {
  weft::sharded<counters> all;
  const auto started = co_await all.start([](unsigned) { return counters{}; });
  if (!started) co_return started;

  std::istringstream words{std::move(text)};
  for (std::string word; words >> word;) {
    const auto owner = static_cast<unsigned>(std::hash<std::string>{}(word) % shards);
    const auto times = co_await all.on(owner, [word](counters& own) { return ++own[word]; });
    if (times) std::printf("%s: %d, on shard %u\n", word.c_str(), *times, owner);
  }

  const auto sizes = co_await all.map([](counters& own) { return own.size(); });
  if (sizes)
    for (const std::size_t size : *sizes) std::printf("%zu different words\n", size);
  co_await all.stop();
  if (!sizes) co_return weft::fail(sizes.error());
  co_return weft::result<void>{};
}

// What each shard does.
weft::task<void> live(weft::event_loop& loop, weft::runtime& shards, std::string text,
                      weft::result<void>& counted) {
  if (loop.shard() != 0) co_return;  // serves the others
  counted = co_await count(std::move(text), shards.size());
  shards.request_stop();
}

constexpr unsigned shards_max = 64;

/// 0: it is no number of shards.
unsigned number_of_shards(std::string_view text) {
  unsigned number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_all = read.ec == std::errc{} && read.ptr == text.data() + text.size();
  return is_all && number <= shards_max ? number : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned wanted = argc > 1 ? number_of_shards(argv[1]) : 2;
  if (wanted == 0) {
    std::fprintf(stderr, "shards: \"%s\" is no number of shards from 1 to %u\n", argv[1],
                 shards_max);
    return 2;
  }
  weft::runtime shards{{.shards = wanted}};
  const std::string text = argc > 2 ? argv[2] : "to be or not to be";
  weft::result<void> counted;
  auto ended =
      shards.run([&](weft::event_loop& loop) { return live(loop, shards, text, counted); });
  if (ended) ended = counted;
  if (!ended) std::fprintf(stderr, "shards: %s\n", ended.error().message().c_str());
  return ended ? 0 : 1;
}
