// What the programs on Drogon have in common: all but the JSON library.
//
// `Library` has, static and of this thread: walk(text, summary), which keeps no string; read(text,
// batch), into an object that is used again; and write(batch, text), which appends. The first two
// give false for what is no such document.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <drogon/drogon.h>

#include "rdrs_documents.hpp"
#include "rdrs_rules.hpp"
#include "rdrs_summary.hpp"
#include "rdrs_table.hpp"

namespace rdrs {

using request = drogon::HttpRequestPtr;
using callback = std::function<void(const drogon::HttpResponsePtr&)>;

inline void answer(const callback& to, std::string text, drogon::ContentType type) {
  auto reply = drogon::HttpResponse::newHttpResponse(drogon::k200OK, type);
  reply->setBody(std::move(text));
  to(reply);
}

inline void refuse(const callback& to, std::string_view why) {
  auto reply = drogon::HttpResponse::newHttpResponse(drogon::k400BadRequest, drogon::CT_TEXT_PLAIN);
  reply->setBody(std::string{why});
  to(reply);
}

/// `Answer` makes the reply's text of the batch, or refuses it and gives an empty one.
template <class Library, class Answer>
void read_and(std::string path, Answer made) {
  drogon::app().registerHandler(path,
                                [made](const request& asked, callback&& to) {
                                  static thread_local batch read;
                                  if (!Library::read(asked->body(), read))
                                    return refuse(to, "this is no batch");
                                  std::string text = made(read, to);
                                  if (!text.empty())
                                    answer(to, std::move(text), drogon::CT_APPLICATION_JSON);
                                },
                                {drogon::Post});
}

inline std::string text_of(const summary& seen) {
  std::string text;
  text.reserve(80);
  seen.append_to(text);
  return text;
}

/// Never returns but with the program.
template <class Library>
int serve(const char* port) {
  static const table rows;
  auto& app = drogon::app();
  app.registerHandler(
      "/ping", [](const request&, callback&& to) { answer(to, "OK", drogon::CT_TEXT_PLAIN); },
      {drogon::Get});
  app.registerHandler("/walk",
                      [](const request& asked, callback&& to) {
                        summary seen;
                        if (!Library::walk(asked->body(), seen))
                          return refuse(to, "this is no batch");
                        answer(to, text_of(seen), drogon::CT_APPLICATION_JSON);
                      },
                      {drogon::Post});
  read_and<Library>("/read",
                    [](const batch& of, const callback&) { return text_of(summary_of(of)); });
  read_and<Library>("/check", [](const batch& of, const callback& to) {
    if (const std::string_view fault = fault_of(of); !fault.empty()) {
      refuse(to, fault);
      return std::string{};
    }
    return text_of(summary_of(of));
  });
  read_and<Library>("/write", [](const batch& of, const callback&) {
    static thread_local std::size_t last_size = 0;
    std::string text;
    text.reserve(last_size);
    Library::write(of, text);
    last_size = text.size();
    return text;
  });
  read_and<Library>("/rows", [](const batch& of, const callback&) {
    static thread_local std::size_t last_size = 0;
    std::string text;
    text.reserve(last_size);
    rows.append_answer(of, text);
    last_size = text.size();
    return text;
  });
  app.addListener("127.0.0.1", static_cast<std::uint16_t>(std::atoi(port)))
      .setThreadNum(1)
      .setLogLevel(trantor::Logger::kError)
      .enableServerHeader(false)
      .disableSession()
      .setClientMaxMemoryBodySize(1 << 20)
      .run();
  return 0;
}

}  // namespace rdrs
