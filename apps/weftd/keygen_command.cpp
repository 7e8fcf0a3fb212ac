#include <apps/weftd/keygen_command.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/log_escape.hpp>
#include <weft/service/command_line.hpp>

#include <apps/weftd/api_key.hpp>

namespace weftd {
namespace {

constexpr int exit_failed = 1;

constexpr const char* about =
    "Makes an API key. What goes into the file of keys is written to stdout, and has no secret; "
    "the\n"
    "key for the client is written to stderr, once.";

constexpr const char* examples =
    "Examples:\n"
    "  weftd keygen --databases shop >> keys.toml            a key that may read the database "
    "shop\n"
    "  weftd keygen --databases shop,hr --write --name till >> keys.toml\n"
    "  weftd --data /var/lib/shop --listen :80 --keys keys.toml\n"
    "  curl -H 'X-API-KEY: PREFIX.SECRET' ...\n\n"
    "A weftd that runs reads its keys again on SIGHUP.";

/// Whether TOML takes it as a string as it is, but for quotes.
bool is_plain(std::string_view text) { return weft::log::escaped(text) == text; }

/// Of "shop,hr".
std::vector<std::string> split(std::string_view names) {
  std::vector<std::string> all;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(','), names.size());
    std::string_view name = names.substr(0, end);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    if (!name.empty()) all.emplace_back(name);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return all;
}

}  // namespace

int make_api_key(int argc, char** argv) {
  weft::command_line cli{"weftd keygen", about, WEFT_VERSION};
  std::string databases;
  std::string name;
  bool may_write = false;
  bool is_of_rondb = false;
  cli.option("--databases", databases, "Which databases it is for; '*': all", "NAME,...");
  cli.option("--name", name, "What people call it, in the file of keys", "TEXT");
  cli.flag("--write", may_write, "It may write, not only read");
  cli.flag("--rondb", is_of_rondb, "Hash it as the RonDB REST server does: secret, then salt");
  cli.epilogue(examples);
  if (const auto ended = cli.parse(argc, argv)) return *ended;
  key_entry wanted{.name = name,
                   .databases = split(databases),
                   .rights = may_write ? right::write : right::read};
  if (wanted.databases.empty()) {
    std::fputs("weftd keygen: which databases is it for? --databases NAME, or '*' for all\n",
               stderr);
    return weft::command_line::exit_usage;
  }
  if (!is_plain(databases) || !is_plain(name)) {
    std::fputs("weftd keygen: --databases and --name are texts without control characters\n",
               stderr);
    return weft::command_line::exit_usage;
  }
  const new_key made = make_key(std::move(wanted), is_of_rondb ? key_form::rondb : key_form::own);
  // What stdout has not taken the flush says.
  std::fputs(to_toml(made.entry).c_str(), stdout);
  if (std::fflush(stdout) != 0) {
    std::perror("weftd keygen: the key could not be written");
    return exit_failed;
  }
  const int told =
      std::fprintf(stderr, "the key, which is told this once: %s\n", made.text.c_str());
  return told < 0 ? exit_failed : 0;
}

}  // namespace weftd
