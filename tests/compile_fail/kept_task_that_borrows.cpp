// expect: this task borrows its arguments: co_await it in the expression that makes it
#include <string>
#include <vector>

#include <weft/coro/when_all.hpp>
#include <weft/http/client/client_stream.hpp>

using sent = weft::http::client_result<void>;

weft::task<void> send_all(weft::http::client_upload& upload, std::vector<std::string> lines) {
  std::vector<weft::task<sent>> writes;
  for (const std::string& line : lines)
#ifdef MISTAKE
    writes.push_back(upload.write(line + "\n"));
#else
    (void)co_await upload.write(line + "\n");
#endif
  (void)co_await weft::when_all(std::move(writes));
}
