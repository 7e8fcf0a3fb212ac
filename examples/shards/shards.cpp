// Counts words on all shards: each has a part of the counters, and words cross to the shard that
// counts them.
//
//   shards 4 "to be or not to be"
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <string>

#include <weft/loop/runtime.hpp>
#include <weft/loop/sharded.hpp>

namespace {

using counters = std::map<std::string, int>;  // one shard's: no lock

weft::task<void> count(std::string text, unsigned shards) {
  weft::sharded<counters> all;
  if (!co_await all.start([](unsigned) { return counters{}; })) co_return;

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
}

// What each shard does.
weft::task<void> live(weft::event_loop& loop, weft::runtime& shards, std::string text) {
  if (loop.shard() != 0) co_return;  // serves the others
  co_await count(std::move(text), shards.size());
  shards.request_stop();
}

}  // namespace

int main(int argc, char** argv) {
  weft::runtime shards{{.shards = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 2}};
  const std::string text = argc > 2 ? argv[2] : "to be or not to be";
  const auto ended = shards.run([&](weft::event_loop& loop) { return live(loop, shards, text); });
  if (!ended) std::fprintf(stderr, "%s\n", ended.error().message().c_str());
  return ended ? 0 : 1;
}
