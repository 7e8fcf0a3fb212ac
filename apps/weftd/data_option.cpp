#include <apps/weftd/data_option.hpp>

#include <weft/service/command_line.hpp>
#include <weft/store/sqlite/engine_options.hpp>

namespace weftd {

void offer_data_folder(weft::command_line& options, weft::store::sqlite::engine_options& store) {
  options.option("--data", store.directory, "Folder of the databases, each a file NAME.db",
                 "FOLDER");
  options.stands_for("--data", "store.sqlite.engine.directory");
}

}  // namespace weftd
