// weftd: serves the rows of databases over HTTP, and what goes with that.
#include <string_view>
#include <vector>

#include <weft/store/sqlite/query_child.hpp>

#include <apps/weftd/export_command.hpp>
#include <apps/weftd/import_command.hpp>
#include <apps/weftd/keygen_command.hpp>
#include <apps/weftd/serve_command.hpp>
#include <apps/weftd/swap_command.hpp>

namespace {

struct command {
  std::string_view name;
  int (*run)(int argc, char** argv);
};

/// It is `weftd --check-config` by another name.
int check_config(int argc, char** argv) {
  static char option[] = "--check-config";
  std::vector<char*> words{argv, argv + argc};
  words.insert(words.begin() + 1, option);
  return weftd::serve(argc + 1, words.data(), false);
}

constexpr command commands[] = {
    {"serve", [](int argc, char** argv) { return weftd::serve(argc, argv, false); }},
    {"demo", [](int argc, char** argv) { return weftd::serve(argc, argv, true); }},
    {"check-config", &check_config},
    {"keygen", &weftd::make_api_key},
    {"import", &weftd::import_file},
    {"export", &weftd::export_table},
    {"swap", &weftd::swap_database},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == weft::store::sqlite::query_subcommand)
    return weft::store::sqlite::serve_queries(argc, argv);
  if (argc > 1)
    for (const command& each : commands)
      if (each.name == argv[1]) {
        argv[1] = argv[0];
        return each.run(argc - 1, argv + 1);
      }
  return weftd::serve(argc, argv, false);
}
