// expect: temporary whose address is used as value of local variable
#include <string>

#include <weft/http/client/client_stream.hpp>

#pragma clang diagnostic error "-Wdangling"

weft::task<void> send(weft::http::client_upload& upload, std::string line) {
#ifdef MISTAKE
  auto sending = upload.write(line + "\n");
  (void)co_await std::move(sending);
#else
  (void)co_await upload.write(line + "\n");
#endif
}
