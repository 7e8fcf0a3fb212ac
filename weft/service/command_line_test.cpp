#include <weft/service/command_line.hpp>

#include <gtest/gtest.h>

#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace {

using weft::command_line;

// A small program's options, and what they were parsed to.
class command_line_of_a_server : public ::testing::Test {
 protected:
  command_line_of_a_server() {
    cli.option("--listen", listen, "Where to serve", "ADDRESS:PORT");
    cli.option("-t,--threads", threads, "Threads", "N");
    cli.choice("--backend", backend, {"auto", "io_uring", "epoll"}, "How to speak to the kernel");
    cli.flag("--quiet", quiet, "Log nothing");
    cli.epilogue("Example:\n  server --listen 0.0.0.0:80");
  }

  std::optional<int> parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "server");
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const auto code = cli.parse(static_cast<int>(arguments.size()), arguments.data());
    out = ::testing::internal::GetCapturedStdout();
    err = ::testing::internal::GetCapturedStderr();
    return code;
  }

  // What is printed for arguments that are refused.
  std::string refusal(const std::vector<const char*>& arguments) {
    EXPECT_EQ(parse(arguments), command_line::exit_usage);
    EXPECT_EQ(out, "");
    return err;
  }

  std::string listen = "127.0.0.1:8080";
  unsigned threads = 1;
  std::string backend = "auto";
  bool quiet = false;
  std::string out;
  std::string err;
  command_line cli{"server", "Serves things.", "1.2.3"};
};

TEST_F(command_line_of_a_server, keeps_the_defaults_of_what_is_not_given) {
  EXPECT_EQ(parse({}), std::nullopt);
  EXPECT_EQ(listen, "127.0.0.1:8080");
  EXPECT_EQ(threads, 1U);
  EXPECT_EQ(backend, "auto");
  EXPECT_FALSE(quiet);
  EXPECT_EQ(out + err, "");
}

TEST_F(command_line_of_a_server, sets_what_is_given_in_either_spelling) {
  EXPECT_EQ(parse({"--listen=[::1]:80", "-t", "4", "--backend", "epoll", "--quiet"}), std::nullopt);
  EXPECT_EQ(listen, "[::1]:80");
  EXPECT_EQ(threads, 4U);
  EXPECT_EQ(backend, "epoll");
  EXPECT_TRUE(quiet);
}

TEST_F(command_line_of_a_server, explains_itself_with_defaults_and_choices) {
  EXPECT_EQ(parse({"--help"}), 0);
  EXPECT_EQ(err, "");
  for (const char* part : {"Serves things.", "--listen", "ADDRESS:PORT", "127.0.0.1:8080",
                           "-t,--threads", "auto|io_uring|epoll", "How to speak to the kernel",
                           "--quiet", "--version", "Example:\n  server --listen 0.0.0.0:80"}) {
    EXPECT_TRUE(out.contains(part)) << part << " is missing in\n" << out;
  }
}

TEST_F(command_line_of_a_server, tells_its_version) {
  EXPECT_EQ(parse({"--version"}), 0);
  EXPECT_EQ(out, "server 1.2.3\n");
}

TEST_F(command_line_of_a_server, names_the_option_that_was_meant) {
  EXPECT_EQ(refusal({"--lisen", "0.0.0.0:80"}),
            "server: unknown option '--lisen'; did you mean '--listen'?\nTry `server --help`.\n");
  EXPECT_TRUE(
      refusal({"--thread=4"}).contains("unknown option '--thread=4'; did you mean '--threads'?"))
      << err;
  EXPECT_TRUE(refusal({"--xyzzyplughwaldo"}).contains("unknown option '--xyzzyplughwaldo'\n"))
      << err;
  EXPECT_TRUE(refusal({"8080"}).contains("unknown argument '8080'\n")) << err;
}

TEST_F(command_line_of_a_server, names_the_option_the_value_and_what_is_allowed) {
  for (const char* bad : {"many", "-1", "1.5", "", "99999999999", "0x10"}) {
    const std::string value = bad;
    const std::string message = refusal({("--threads=" + value).c_str()});
    EXPECT_TRUE(message.contains("--threads")) << message;
    EXPECT_TRUE(value.empty() || message.contains("'" + value + "' is not a whole number"))
        << message;
  }
  const std::string message = refusal({"--backend", "epol"});
  EXPECT_TRUE(message.contains("--backend")) << message;
  EXPECT_TRUE(message.contains("'epol' is none of: auto, io_uring, epoll; did you mean 'epoll'?"))
      << message;
  EXPECT_TRUE(refusal({"--listen"}).contains("--listen")) << err;
}

TEST_F(command_line_of_a_server, takes_assignments_where_they_are_accepted) {
  EXPECT_TRUE(refusal({"--shop.open=true"}).contains("unknown option '--shop.open=true'")) << err;
  command_line other{"server", "", ""};
  other.option("--listen", listen, "Where to serve", "ADDRESS:PORT");
  other.option("--patience", threads, "How long", "SECONDS");
  other.stands_for("--listen", "shop.listen");
  other.stands_for("--patience", "shop.patience", "s");
  other.accept_assignments();
  const char* const arguments[] = {"server", "--shop.open=true", "--patience",       "5",
                                   "--set",  "shop.size=a=b",    "--set=shop.size=2"};
  EXPECT_EQ(other.parse(std::size(arguments), arguments), std::nullopt);
  std::vector<std::string> texts;
  std::vector<std::string> names;
  for (const auto& [text, name] : other.assignments()) {
    texts.push_back(text);
    names.push_back(name);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"shop.patience=5s", "shop.size=a=b", "shop.size=2",
                                             "shop.open=true"}));
  EXPECT_EQ(names,
            (std::vector<std::string>{"--patience", "--shop.size", "--shop.size", "--shop.open"}));
}

}  // namespace
