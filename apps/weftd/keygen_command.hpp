// `weftd keygen`: makes an API key.
//
// Contract: the entry for the file of keys goes to stdout, the key itself, which is in no file, to
// stderr: `weftd keygen --databases shop >> keys.toml`.
#pragma once

namespace weftd {

/// With the words of its own command line. The process's exit code.
[[nodiscard]] int make_api_key(int argc, char** argv);

}  // namespace weftd
