// What is said wrongly of services, and told when they start: each with its fix.
#include <weft/service/container_change_fixture_test.hpp>

#include <optional>

namespace office {

struct desk {
  virtual ~desk() = default;
};
struct oak_desk : desk {};
struct lamp {};
struct writer {
  explicit writer(desk& at) : here{&at} {}
  desk* here;
};

}  // namespace office

namespace {

using mill::lines;
using weft::captured_log;
using weft::container;
using weft::container_change;
using weft::result;
using weft::said;
using weft::task;

class container_mistakes : public container_change {
 protected:
  std::string start() {
    std::optional<result<void>> up;
    loop->spawn(keep(services.start(), up));
    loop->run();
    return said(up);
  }
  captured_log log_lines;
};

TEST_F(container_mistakes, several_of_one_name) {
  for (int i = 0; i < 3; ++i) services.add<office::oak_desk>().named("corner").as<office::desk>();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(start(), "invalid_argument");
    EXPECT_EQ(std::exchange(log_lines.messages, {}),
              lines{"two services are office::desk \"corner\": give each a name of its own, by "
                    ".named()"});
  }
}

TEST_F(container_mistakes, one_name_for_two_interfaces_is_none) {
  services.add<office::oak_desk>().named("corner").as<office::desk>();
  services.add<office::oak_desk>().named("corner");
  EXPECT_EQ(start(), "well");
  EXPECT_EQ(services.handle_of<office::oak_desk>("corner"), services.handle_of<office::oak_desk>());
  EXPECT_NE(services.handle_of<office::oak_desk>("corner"),
            services.handle_of<office::desk>("corner"));
  EXPECT_FALSE(services.handle_of<office::oak_desk>("window"));
}

TEST_F(container_mistakes, a_binding_to_what_is_something_else) {
  services.add<office::oak_desk>().as<office::desk>();
  const auto lamp = services.add<office::lamp>().handle();
  services.add<office::writer>().bind<office::desk>(lamp);
  EXPECT_EQ(start(), "invalid_argument");
  EXPECT_EQ(log_lines.messages,
            lines{"office::writer is bound to office::lamp, which is no office::desk: "
                  "bind<office::desk>() takes the handle of one that has been added to the same "
                  "container"});
}

TEST_F(container_mistakes, a_handle_of_another_container) {
  container other;
  const auto elsewhere = other.add<office::oak_desk>().as<office::desk>().handle();
  services.add<office::oak_desk>().as<office::desk>();
  services.add<office::writer>().bind<office::desk>(elsewhere);
  EXPECT_EQ(start(), "invalid_argument");
  EXPECT_EQ(log_lines.messages,
            lines{"office::writer is bound to a handle that names nobody, which is no "
                  "office::desk: bind<office::desk>() takes the handle of one that has been added "
                  "to the same container"});
  container third;
  const auto theirs = third.add<office::lamp>().handle();
  std::optional<result<void>> down;
  loop->spawn(keep(services.stop(theirs), down));
  loop->run();
  EXPECT_EQ(said(down), "not_found");
}

}  // namespace
