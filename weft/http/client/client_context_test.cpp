// What a client tells a server of the task that asks: the deadline and the trace of its
// environment.
#include <weft/http/client/client.hpp>

#include <string>

#include <weft/coro/with_deadline.hpp>
#include <weft/http/request.hpp>
#include <weft/http/request_deadlines.hpp>
#include <weft/http/trace_requests.hpp>
#include <weft/telemetry/trace_context.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http {
namespace {

using testing::client_fixture;
using namespace std::chrono_literals;

class client_context_test : public client_fixture {
 protected:
  /// What a request says that is sent in this trace, or in none.
  task<std::string> said_in(client& asking, const telemetry::trace_context* trace) {
    environment env = co_await this_task::environment();
    env.trace = trace;
    const auto answer = co_await asking.get(url("/said")).in(env);
    co_return answer ? std::string{answer->body()} : answer.error().message();
  }
  void serve_what_is_said() {
    http().get("/said", [](const request& r) {
      std::string said;
      for (const std::string_view name : {"request-timeout-ms", "traceparent", "tracestate"})
        said.append(r.header(name).value_or("-")).append(" ");
      return said;
    });
  }
};
INSTANTIATE_TEST_SUITE_P(in_memory, client_context_test, ::testing::Values(backend_kind::simulated),
                         testing::backend_name);

TEST_P(client_context_test, says_how_long_it_waits_and_in_which_trace) {
  serve_what_is_said();
  run_with_client([&](client& asking) -> task<void> {
    EXPECT_EQ(co_await said_in(asking, nullptr), "30000 - - ") << "the client's own timeout";
    telemetry::trace_context trace;
    EXPECT_TRUE(trace.read("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=b"));
    EXPECT_EQ(co_await said_in(asking, &trace),
              "30000 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 a=b ");
    trace.state.clear();
    const auto in_time = co_await with_timeout(250ms, said_in(asking, &trace));
    EXPECT_EQ(in_time, "250 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 - ");
  });
}

TEST_P(client_context_test, may_be_told_to_say_no_deadline) {
  serve_what_is_said();
  run_with_client({.timeout_field = ""}, [&](client& asking) -> task<void> {
    EXPECT_EQ(co_await with_timeout(250ms, said_in(asking, nullptr)), "- - - ");
  });
}

TEST_P(client_context_test, of_a_service_is_that_of_who_has_called_it) {
  http().wrap_all(trace_requests{1});
  http().wrap_all(request_deadlines{});
  http().get("/back", []() -> task<std::string> {
    const environment& env = co_await this_task::environment();
    const auto parent = env.trace->parent();
    co_return std::string{parent.data(), parent.size()} +
        (env.until.is_never() ? " ever" : " ends");
  });
  run_with_client([&](client& asking) -> task<void> {
    http().get("/front", [&]() -> task<std::string> {
      const auto answer = co_await asking.get(url("/back"));
      co_return answer ? std::string{answer->body()} : answer.error().message();
    });
    auto caller = co_await world().connect();
    const std::string got =
        (co_await caller.ask(
             "GET", "/front", {},
             "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n"
             "Request-Timeout-Ms: 1000\r\n"))
            .body;
    EXPECT_TRUE(got.starts_with("00-0af7651916cd43dd8448eb211c80319c-")) << got;
    EXPECT_TRUE(got.ends_with("-01 ends")) << got;
  });
}

}  // namespace
}  // namespace weft::http
