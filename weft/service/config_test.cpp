#include <weft/service/config.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/service/config_file.hpp>

using namespace std::chrono_literals;

namespace shop {

enum class colour : std::uint8_t { red, green, auto_ };

struct limits {
  std::size_t bytes = 1024;
  weft::duration timeout = 30s;
};

struct peer {
  std::string host = "localhost";
  std::uint16_t port = 80;
};

struct options {
  std::string listen = "127.0.0.1:8080";
  int backlog = 4096;
  std::uint64_t bytes_in_all = 0;
  bool quiet = false;
  double rate = 1;
  float share = 0.5F;
  colour paint = colour::red;
  weft::duration patience = 100ms;
  std::chrono::seconds grace{10};
  std::optional<int> nice{};
  std::vector<std::string> tags{};
  std::vector<peer> peers{};
  limits bounds{};
  void* context = nullptr;
};

struct other {
  int depth = 3;
};

// Each with a range.
struct bounded {
  int loaves = 10;
  std::uint64_t bytes = 4096;
  double share = 0.5;
  weft::duration bake = 40min;
  std::chrono::seconds rest{60};
  std::optional<unsigned> ovens{};
  std::vector<std::int64_t> shelves{};
  std::uint64_t largest = 7;
  int cellar = -2;

  static constexpr auto bounds() {
    return weft::bounds(
        weft::within<&bounded::cellar>(-3, -1), weft::within<&bounded::loaves>(1, 1000),
        weft::within<&bounded::bytes>(16, 65536), weft::within<&bounded::share>(0, 1),
        weft::within<&bounded::bake>(1min, 24h), weft::at_least<&bounded::rest>(5s),
        weft::at_most<&bounded::ovens>(8), weft::within<&bounded::shelves>(-3, 3),
        weft::at_least<&bounded::largest>(7));
  }
};

struct bounded_inside {
  bounded inner{};
};

struct cellar_door {
  std::string key{};

  [[nodiscard]] std::vector<weft::option_fault> faults() const {
    if (key == "iron") return {};
    return {{"key", "\"" + key + "\" opens nothing"}};
  }
};

struct cellar {
  cellar_door door{};
  cellar_door window{.key = "iron"};
  int barrels = 3;

  [[nodiscard]] std::vector<weft::option_fault> faults() const {
    if (barrels < 10) return {};
    return {{"barrels", "there is no room"}};
  }
};

}  // namespace shop

namespace {

using lines = std::vector<std::string>;
using weft::config;

// Options of two services, and everything that can be said about them.
struct shop_config {
  config given;
  shop::options shop;
  shop::other cellar;

  lines read(std::string_view toml) {
    const auto done = given.read_text(toml, "shop.toml");
    return done ? apply() : lines{done.error()};
  }
  lines apply() {
    given.bind("shop", shop);
    given.bind("shop.cellar", cellar);
    return given.apply();
  }
};

lines faults_of(std::string_view toml) { return shop_config{}.read(toml); }
lines fault(std::string_view line) { return {std::string{line}}; }

TEST(config, reads_every_type) {
  shop_config all;
  EXPECT_EQ(all.read(R"([shop]
listen = ":80"
backlog = -5
bytes_in_all = "8GiB"
quiet = true
rate = 2
share = 0.25
paint = "auto"
patience = "50us"
grace = "1min"
nice = 7
tags = ["a", "b,c"]
peers = [{ host = "x", port = 1 }, { port = 65535 }]

[shop.bounds]
bytes = "64KiB"

[shop.cellar]
depth = 4
)"),
            lines{});
  EXPECT_EQ(all.shop.listen, ":80");
  EXPECT_EQ(all.shop.backlog, -5);
  EXPECT_EQ(all.shop.bytes_in_all, std::uint64_t{8} << 30);
  EXPECT_TRUE(all.shop.quiet);
  EXPECT_EQ(all.shop.rate, 2.0);
  EXPECT_EQ(all.shop.share, 0.25F);
  EXPECT_EQ(all.shop.paint, shop::colour::auto_);
  EXPECT_EQ(all.shop.patience, 50us);
  EXPECT_EQ(all.shop.grace, 60s);
  EXPECT_EQ(all.shop.nice, 7);
  EXPECT_EQ(all.shop.tags, (lines{"a", "b,c"}));
  ASSERT_EQ(all.shop.peers.size(), 2U);
  EXPECT_EQ(all.shop.peers[0].host, "x");
  EXPECT_EQ(all.shop.peers[0].port, 1);
  EXPECT_EQ(all.shop.peers[1].host, "localhost");
  EXPECT_EQ(all.shop.peers[1].port, 65535);
  EXPECT_EQ(all.shop.bounds.bytes, 65536U);
  EXPECT_EQ(all.shop.bounds.timeout, 30s) << "what the file does not name stays";
  EXPECT_EQ(all.cellar.depth, 4);
}

TEST(config, takes_the_last_of_program_file_environment_and_command_line) {
  shop_config all;
  all.shop = {.listen = "program", .tags = {"program"}};
  all.shop.bounds.bytes = 1;
  const char* const variables[] = {"WEFT_SHOP_TAGS=x,y",       "WEFT_SHOP_BOUNDS_BYTES=3KiB",
                                   "WEFT_SHOP_QUIET=true",     "WEFT_SHOP_BACKLOG=-7",
                                   "WEFT_SHOP_CELLAR_DEPTH=5", "WEFT_BUILD_DIR=/tmp",
                                   "OTHER_SHOP_LISTEN=no",     nullptr};
  all.given.read_environment(variables);
  EXPECT_TRUE(all.given.assign("shop.bounds.bytes=4"));
  EXPECT_TRUE(all.given.assign("shop.bounds.bytes=5"));
  EXPECT_TRUE(all.given.assign("shop.cellar.depth=6"));
  EXPECT_TRUE(all.given.assign("shop.patience=2s"));
  EXPECT_EQ(all.read("shop.bounds.bytes = 2\nshop.tags = ['file']\nshop.rate = 1e3\n"), lines{});
  EXPECT_EQ(all.shop.listen, "program");
  EXPECT_EQ(all.shop.rate, 1000.0);
  EXPECT_EQ(all.shop.tags, (lines{"x", "y"}));
  EXPECT_TRUE(all.shop.quiet);
  EXPECT_EQ(all.shop.backlog, -7);
  EXPECT_EQ(all.shop.bounds.bytes, 5U);
  EXPECT_EQ(all.shop.patience, 2s);
  EXPECT_EQ(all.cellar.depth, 6);
}

TEST(config, prints_all_options_with_their_origins_as_a_file_that_reads_back) {
  shop_config all;
  all.shop.listen = "say \"hi\"\n";
  all.shop.context = &all;
  const char* const variables[] = {"WEFT_SHOP_NICE=3", nullptr};
  all.given.read_environment(variables);
  EXPECT_TRUE(all.given.assign("shop.quiet=true"));
  EXPECT_EQ(all.read("[shop]\nbacklog = 5\npeers = [{ port = 8 }]\n"), lines{});
  const std::string printed = all.given.to_toml();
  EXPECT_EQ(printed, R"([shop]
listen = "say \"hi\"\n"                     # program
backlog = 5                                 # shop.toml:2:11
bytes_in_all = 0                            # default
quiet = true                                # --shop.quiet
rate = 1.0                                  # default
share = 0.5                                 # default
paint = "red"                               # default
patience = "100ms"                          # default
grace = "10s"                               # default
nice = 3                                    # WEFT_SHOP_NICE
tags = []                                   # default
peers = [{ host = "localhost", port = 8 }]  # shop.toml:3:9

[shop.bounds]
bytes = 1024     # default
timeout = "30s"  # default

[shop.cellar]
depth = 3  # default
)");
  shop_config again;
  EXPECT_EQ(again.read(printed), lines{});
  EXPECT_EQ(again.shop.listen, all.shop.listen);
  EXPECT_EQ(again.shop.nice, 3);
  EXPECT_EQ(again.shop.peers.size(), 1U);
}

TEST(config, says_where_a_name_is_wrong_and_which_is_near) {
  EXPECT_EQ(faults_of("[shop]\n\n  lsiten = ':80'\n"),
            fault("shop.toml:3:3: shop has no option \"lsiten\"; did you mean 'listen'?"));
  EXPECT_EQ(faults_of("[shop.bounds]\nbyte = 1\n"),
            fault("shop.toml:2:1: shop.bounds has no option \"byte\"; did you mean 'bytes'?"));
  EXPECT_EQ(faults_of("[shop]\npeers = [{ prot = 1 }]\n"),
            fault("shop.toml:2:12: shop.peers[0] has no option \"prot\"; did you mean 'port'?"));
  EXPECT_EQ(faults_of("[shop.celar]\ndepth = 1\n"),
            fault("shop.toml:1:7: shop has no option \"celar\"; did you mean 'cellar'?"));
  EXPECT_EQ(faults_of("[shpo]\n"),
            fault("shop.toml:1:2: there is no section 'shpo'; did you mean 'shop'?"));
  EXPECT_EQ(faults_of("zzzzzzzzzzzz = 1\n"),
            fault("shop.toml:1:1: there is no section 'zzzzzzzzzzzz'"));
  EXPECT_EQ(faults_of("shop = 1\n"), fault("shop.toml:1:1: shop is a section: write [shop]"));
  EXPECT_EQ(faults_of("[shop]\ncontext = 1\n"),
            fault("shop.toml:2:1: shop.context can only be set by the program"));
}

TEST(config, says_what_a_value_may_be) {
  for (const char* const value : {"\"many\"", "\"64KiB\"", "\"7\"", "1.5"})
    EXPECT_EQ(faults_of(std::string{"[shop]\nbacklog = "} + value),
              fault(std::string{"shop.toml:2:11: shop.backlog is a whole number, not "} + value));
  EXPECT_EQ(faults_of("[shop]\nbytes_in_all = '64KB'\n"),
            fault("shop.toml:2:16: shop.bytes_in_all is a whole number or a size such as "
                  "\"64KiB\", not \"64KB\""));
  EXPECT_EQ(faults_of("[shop]\nlisten = 80\n"),
            fault("shop.toml:2:10: shop.listen is text, not 80"));
  EXPECT_EQ(faults_of("[shop]\nquiet = 'true'\n"),
            fault("shop.toml:2:9: shop.quiet is true or false, not \"true\""));
  EXPECT_EQ(faults_of("[shop]\nrate = []\n"),
            fault("shop.toml:2:8: shop.rate is a number, not a list"));
  EXPECT_EQ(faults_of("[shop]\nrate = 2026-01-01\n"),
            fault("shop.toml:2:8: shop.rate is a number, not a date or time of day"));
  EXPECT_EQ(
      faults_of("[shop]\npaint = 'gren'\n"),
      fault("shop.toml:2:9: shop.paint is one of red, green, auto, not \"gren\"; did you mean "
            "'green'?"));
  EXPECT_EQ(faults_of("[shop]\npatience = 10\n"),
            fault("shop.toml:2:12: shop.patience is a time such as \"10s\" (ns, us, ms, s, min, h, "
                  "d; whole numbers), not 10"));
  EXPECT_EQ(faults_of("[shop]\ngrace = '1500ms'\n"),
            fault("shop.toml:2:9: shop.grace is a whole number of times 1s, not \"1500ms\""));
  EXPECT_EQ(faults_of("[shop]\ntags = 'a'\n"),
            fault("shop.toml:2:8: shop.tags is a list, not \"a\""));
  EXPECT_EQ(faults_of("[shop]\nbounds = 1\n"),
            fault("shop.toml:2:10: shop.bounds is a table, not 1"));
  EXPECT_EQ(faults_of("[shop]\ntags = ['a', 7]\n"),
            fault("shop.toml:2:14: shop.tags[1] is text, not 7"));
}

TEST(config, says_what_range_a_number_has) {
  EXPECT_EQ(faults_of("[shop]\nbacklog = 3000000000\n"),
            fault("shop.toml:2:11: shop.backlog is from -2147483648 to 2147483647; 3000000000 is "
                  "out of range"));
  EXPECT_EQ(
      faults_of("[shop]\nbytes_in_all = -1\n"),
      fault("shop.toml:2:16: shop.bytes_in_all is from 0 to 18446744073709551615; -1 is out of "
            "range"));
  EXPECT_EQ(faults_of("[shop]\npeers = [{ port = 65536 }]\n"),
            fault("shop.toml:2:19: shop.peers[0].port is from 0 to 65535; 65536 is out of range"));
  EXPECT_EQ(faults_of("[shop]\nbytes_in_all = '99999999999TiB'\n"),
            fault("shop.toml:2:16: shop.bytes_in_all is from 0 to 18446744073709551615; "
                  "\"99999999999TiB\" is out of range"));
  EXPECT_EQ(faults_of("[shop]\nshare = 1e300\n"),
            fault("shop.toml:2:9: shop.share is a number, not 1e+300: it is too large"));
  EXPECT_EQ(faults_of("[shop]\npatience = '999999999d'\n"),
            fault("shop.toml:2:12: shop.patience is a time, not \"999999999d\": it is too long"));
}

struct bounded_config {
  config given;
  shop::bounded bakery;
  shop::bounded_inside town;

  lines read(std::string_view toml) {
    const auto done = given.read_text(toml, "shop.toml");
    if (!done) return {done.error()};
    given.bind("bakery", bakery);
    given.bind("town", town);
    return given.apply();
  }
};

TEST(config, takes_what_is_within_the_range_that_the_struct_says) {
  for (const char* const each :
       {"loaves = 1", "loaves = 1000", "bytes = '64KiB'", "bytes = 16", "share = 0", "share = 1.0",
        "bake = '1min'", "bake = '1d'", "rest = '5s'", "rest = '1d'", "ovens = 8", "ovens = 0",
        "shelves = [-3, 3]", "cellar = -3", "largest = 9223372036854775807"})
    EXPECT_EQ(bounded_config{}.read(std::string{"[bakery]\n"} + each), lines{}) << each;
}

TEST(config, refuses_what_is_out_of_the_range_that_the_struct_says) {
  const auto refused = [](const std::string& line) {
    const lines faults = bounded_config{}.read("[bakery]\n" + line);
    return faults.size() == 1 ? faults[0].substr(faults[0].find("bakery")) : "not refused";
  };
  EXPECT_EQ(refused("loaves = 0"), "bakery.loaves is from 1 to 1000; 0 is out of range");
  EXPECT_EQ(refused("loaves = -1"), "bakery.loaves is from 1 to 1000; -1 is out of range");
  EXPECT_EQ(refused("loaves = 1001"), "bakery.loaves is from 1 to 1000; 1001 is out of range");
  EXPECT_EQ(refused("bytes = 15"), "bakery.bytes is from 16 to 65536; 15 is out of range");
  EXPECT_EQ(refused("bytes = '1MiB'"),
            "bakery.bytes is from 16 to 65536; \"1MiB\" is out of range");
  EXPECT_EQ(refused("share = 1.01"), "bakery.share is from 0.0 to 1.0; 1.01 is out of range");
  EXPECT_EQ(refused("share = nan"), "bakery.share is from 0.0 to 1.0; nan is out of range");
  EXPECT_EQ(refused("bake = '59s'"), "bakery.bake is from 1min to 1d; \"59s\" is out of range");
  EXPECT_EQ(refused("bake = '25h'"), "bakery.bake is from 1min to 1d; \"25h\" is out of range");
  EXPECT_EQ(refused("rest = '4s'"), "bakery.rest is at least 5s; \"4s\" is out of range");
  EXPECT_EQ(refused("ovens = 9"), "bakery.ovens is from 0 to 8; 9 is out of range");
  EXPECT_EQ(refused("shelves = [0, 4]"), "bakery.shelves[1] is from -3 to 3; 4 is out of range");
  EXPECT_EQ(refused("cellar = 1"), "bakery.cellar is from -3 to -1; 1 is out of range");
  EXPECT_EQ(refused("largest = 6"),
            "bakery.largest is from 7 to 18446744073709551615; 6 is out of range");
}

TEST(config, says_where_a_value_out_of_its_range_is_from) {
  bounded_config all;
  all.bakery.bytes = 1;
  all.town.inner.shelves = {0, 9};
  const char* const variables[] = {"WEFT_BAKERY_BAKE=0s", nullptr};
  all.given.read_environment(variables);
  EXPECT_TRUE(all.given.assign("bakery.loaves=0"));
  EXPECT_EQ(all.read("[town.inner]\nloaves = 1\nrest = '0s'"),
            (lines{"shop.toml:3:8: town.inner.rest is at least 5s; \"0s\" is out of range",
                   "WEFT_BAKERY_BAKE: bakery.bake is from 1min to 1d; \"0s\" is out of range",
                   "--bakery.loaves: bakery.loaves is from 1 to 1000; \"0\" is out of range",
                   "program: bakery.bytes is from 16 to 65536; 1 is out of range",
                   "program: town.inner.shelves is from -3 to 3; 9 is out of range"}));
  EXPECT_EQ(all.bakery.bake, 40min) << "what is refused changes nothing";
}

TEST(config, names_variables_and_arguments_that_are_wrong) {
  shop_config all;
  const char* const variables[] = {"WEFT_SHOP_LISTN=x", "WEFT_SHOP_BACKLOG=many",
                                   "WEFT_SHOP_RATE=1e999", nullptr};
  all.given.read_environment(variables);
  EXPECT_TRUE(all.given.assign("shop.bounds.bite=1"));
  EXPECT_TRUE(all.given.assign("shp.listen=1"));
  EXPECT_TRUE(all.given.assign("shop.quiet=maybe"));
  EXPECT_FALSE(all.given.assign("listen=1"));
  EXPECT_FALSE(all.given.assign("shop.listen"));
  EXPECT_FALSE(all.given.assign("shop.=1"));
  EXPECT_FALSE(all.given.assign(".shop=1"));
  EXPECT_EQ(all.apply(),
            (lines{"WEFT_SHOP_BACKLOG: shop.backlog is a whole number, not \"many\"",
                   "WEFT_SHOP_RATE: shop.rate is a number, not \"1e999\": it is too large",
                   "WEFT_SHOP_LISTN: shop has no such option; did you mean 'WEFT_SHOP_LISTEN'?",
                   "--shop.bounds.bite: shop.bounds has no option \"bite\"; did you mean 'bytes'?",
                   "--shp.listen: there is no section 'shp'; did you mean 'shop'?",
                   "--shop.quiet: shop.quiet is true or false, not \"maybe\""}));
}

TEST(config, reports_all_faults_at_once_and_changes_nothing_that_is_wrong) {
  shop_config all;
  EXPECT_EQ(all.read("[shop]\nbacklog = true\nlisten = ':1'\nquiet = 1\n").size(), 2U);
  EXPECT_EQ(all.shop.backlog, 4096);
  EXPECT_EQ(all.shop.listen, ":1");
}

TEST(config, says_where_a_file_is_no_toml) {
  const lines wrong = faults_of("[shop]\nlisten = \n");
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_TRUE(wrong[0].starts_with("shop.toml:2:10: ")) << wrong[0];
  EXPECT_TRUE(faults_of("[shop]\nquiet = true\nquiet = true\n")[0].starts_with("shop.toml:3:"));
  EXPECT_EQ(faults_of("[.shop]\n"), fault("shop.toml:1:1: a name is missing or malformed"));
  EXPECT_EQ(faults_of("[shop]\n# one\n\n  [.shop] # two\nquiet = true\n[.again]"),
            fault("shop.toml:4:3: a name is missing or malformed"));
  EXPECT_EQ(faults_of("[shop]\nlisten = '''\n[.shop]\n'''\n[.b]"),
            fault("shop.toml:5:1: a name is missing or malformed"));
  std::string deep = "a = ";
  deep.append(100'000, '[');
  EXPECT_EQ(faults_of(deep).size(), 1U);
}

TEST(config, takes_letters_beyond_ascii_in_strings_and_comments_only) {
  EXPECT_EQ(faults_of("\xEF\xBB\xBF# \u00e9\n[shop] # \u00e9\nlisten = '\u00e9'\n"), lines{});
  EXPECT_EQ(faults_of("[shop]\nlisten = \"\"\"\\\n\u00e9\"\"\"\n"), lines{});
  EXPECT_TRUE(faults_of("[shop]\n\u0411 = 1\n")[0].starts_with("shop.toml:2:"));
  EXPECT_TRUE(faults_of("shop.backlog = 1\u0411\n")[0].starts_with("shop.toml:1:"));
  EXPECT_TRUE(faults_of("shop.backlog = 1s\"s = 1\u0411\"\n")[0].starts_with("shop.toml:1:"));
}

TEST(config, names_the_file_that_cannot_be_read_and_why) {
  char folder[] = "/tmp/weft_config_XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string missing = std::string{folder} + "/missing.toml";
  const std::string large = std::string{folder} + "/large.toml";
  config given;
  auto read = given.read_file(missing);
  ASSERT_FALSE(read);
  EXPECT_TRUE(read.error().starts_with("cannot read " + missing + ": ")) << read.error();
  EXPECT_TRUE(read.error().contains("errno 2")) << read.error();
  read = given.read_file(folder);
  ASSERT_FALSE(read);
  EXPECT_TRUE(read.error().starts_with(std::string{"cannot read "} + folder)) << read.error();
  EXPECT_TRUE(read.error().contains("errno 21")) << read.error();
  {
    std::FILE* const file = std::fopen(large.c_str(), "w");
    const std::string line = "# a comment, and a long one\n";
    for (std::size_t size = 0; size <= weft::detail::config_file_bytes_max; size += line.size())
      std::fputs(line.c_str(), file);
    std::fclose(file);
  }
  read = given.read_file(large);
  ASSERT_FALSE(read);
  EXPECT_TRUE(read.error().contains("1048576 bytes")) << read.error();
  ::unlink(large.c_str());
  ::rmdir(folder);
  read = given.read_file("/dev/zero");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(),
            "cannot read /dev/zero: it is a device: what is wanted is a regular file");
}

TEST(config, names_sections_after_the_types_of_services) {
  EXPECT_EQ(weft::section_of("weft::http::server"), "http.server");
  EXPECT_EQ(weft::section_of("shop::store"), "shop.store");
  EXPECT_EQ(weft::section_of("(anonymous namespace)::ping_api"), "ping_api");
  EXPECT_EQ(weft::section_of("shop::{anonymous}::ping_api"), "shop.ping_api");
  EXPECT_EQ(weft::section_of("cache<int, 4>"), "cache_int__4_");
}

TEST(config, knows_where_each_value_is_from) {
  shop_config all;
  all.shop.backlog = 1;
  EXPECT_TRUE(all.given.assign("shop.quiet=true", "--quiet"));
  EXPECT_TRUE(all.given.assign("shop.quiet=true", "--still"));
  EXPECT_EQ(all.read("[shop]\nrate = 2\nlisten = 3"),
            fault("shop.toml:3:10: shop.listen is text, not 3"));
  EXPECT_EQ(all.given.origin_of("shop.quiet"), "--still");
  EXPECT_EQ(all.given.origin_of("shop.rate"), "shop.toml:2:8");
  EXPECT_EQ(all.given.origin_of("shop.backlog"), "program");
  EXPECT_EQ(all.given.origin_of("shop.listen"), "default");
}

TEST(config, asks_structs_what_is_wrong_with_them) {
  config given;
  shop::cellar cellar{.door = {.key = "wax"}};
  given.bind("cellar", cellar);
  EXPECT_TRUE(given.read_text("[cellar]\nwindow.key = 'tin'\nbarrels = 12\n", "shop.toml"));
  EXPECT_EQ(given.apply(), lines{});
  EXPECT_EQ(given.faults(), (lines{"shop.toml:3:11: cellar.barrels: there is no room",
                                   "program: cellar.door.key: \"wax\" opens nothing",
                                   "shop.toml:2:14: cellar.window.key: \"tin\" opens nothing"}));
  cellar = {.door = {.key = "iron"}};
  EXPECT_EQ(given.faults(), lines{});
}

TEST(config, asserts_that_sections_differ) {
  config given;
  shop::other one;
  given.bind("a", one);
  EXPECT_DEATH(given.bind("a", one), "two services of one name");
}

}  // namespace
