// Where the databases are, as every command that touches them is told.
//
//   weft::store::sqlite::engine_options store{.directory = ""};
//   offer_data_folder(app.options(), store);
#pragma once

namespace weft {
class command_line;
}

namespace weft::store::sqlite {
struct engine_options;
}

namespace weftd {

/// `store` stays until the command line is parsed.
void offer_data_folder(weft::command_line& options, weft::store::sqlite::engine_options& store);

}  // namespace weftd
