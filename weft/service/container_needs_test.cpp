// What a constructor may ask for, and what may be said of a service that is added.
#include <weft/service/container.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace farm {

struct animal {
  virtual ~animal() = default;
  [[nodiscard]] virtual std::string sound() const = 0;
};
struct named_thing {
  explicit named_thing(std::string given) : name{std::move(given)} {}
  std::string name;
};

struct dog_options {
  std::string sound = "woof";
};
// `named_thing` first, so that an animal is not where the dog is.
struct dog : named_thing, animal {
  using options = dog_options;
  explicit dog(dog_options given) : named_thing{"dog"}, said{std::move(given.sound)} {}
  [[nodiscard]] std::string sound() const override { return said; }
  std::string said;
};
struct cat : animal {
  [[nodiscard]] std::string sound() const override { return "miaow"; }
};

struct farmer {
  explicit farmer(animal& own) : heard{own.sound()} {}
  std::string heard;
};
struct hopeful {
  explicit hopeful(weft::maybe<animal> one) : pet{one}, had_one{one.get() != nullptr} {}
  weft::maybe<animal> pet;
  bool had_one;
};
struct listener {
  explicit listener(weft::many<animal> all) : animals{all} {}
  [[nodiscard]] std::string sounds() const {
    std::string text;
    for (const animal& each : animals) text += each.sound() + ' ';
    return text;
  }
  weft::many<animal> animals;
};
struct chooser {
  chooser(weft::named<dog, "rex"> first, weft::named<dog, "bello"> second)
      : rex{first->said}, bello{second.get().said} {}
  std::string rex;
  std::string bello;
};

struct logger_options {
  std::string prefix = "- ";
};
struct logger {
  using options = logger_options;
  logger(logger_options given, weft::consumer asked, weft::lifetime& own)
      : text{given.prefix + std::string{asked.type} + '/' + std::string{asked.name}}, life{&own} {}
  std::string text;
  weft::lifetime* life;
};
struct talker {
  talker(logger& own, weft::lifetime& mine) : log{&own}, life{&mine} {}
  logger* log;
  weft::lifetime* life;
};
struct other_talker {
  explicit other_talker(weft::maybe<logger> own) : log{own.get()} {}
  logger* log;
};

struct optimist;
struct pessimist {
  explicit pessimist(optimist& other) : needs{&other} {}
  optimist* needs;
};
struct optimist {
  explicit optimist(weft::maybe<pessimist> other) : hopes_for{other} {}
  weft::maybe<pessimist> hopes_for;
};

struct mirror_base {
  int depth = 0;
};
struct mirror : mirror_base {
  explicit mirror(mirror_base& below) : mirror_base{below.depth + 1} {}
};

}  // namespace farm

namespace {

using lines = std::vector<std::string>;
using weft::container;

std::string why_not(container& services) {
  try {
    static_cast<void>(services.get<farm::farmer>());
  } catch (const std::logic_error& why) {
    return why.what();
  }
  return "it can be made";
}

TEST(container_needs, takes_a_service_for_what_it_is_said_to_be) {
  container services;
  services.add<farm::farmer>();
  services.add<farm::dog>({.sound = "arf"}).as<farm::animal, farm::named_thing>();
  EXPECT_EQ(services.get<farm::farmer>().heard, "arf");
  EXPECT_EQ(services.get<farm::named_thing>().name, "dog");
  EXPECT_EQ(services.find<farm::dog>(), nullptr) << "as<I>() is instead of the own type";
}

TEST(container_needs, shows_what_is_optional_when_it_is_there) {
  container none;
  none.add<farm::hopeful>();
  EXPECT_EQ(none.get<farm::hopeful>().pet.get(), nullptr);

  container one;
  one.add<farm::hopeful>();
  one.add<farm::cat>().as<farm::animal>();
  EXPECT_TRUE(one.get<farm::hopeful>().had_one) << "made after what it hopes for";
  EXPECT_EQ(one.get<farm::hopeful>().pet->sound(), "miaow");
}

TEST(container_needs, gives_up_hope_only_where_a_circle_asks_for_it) {
  container services;
  services.add<farm::hopeful>();
  services.add<farm::optimist>();
  services.add<farm::pessimist>();
  services.add<farm::cat>().as<farm::animal>();
  const farm::optimist& made = services.get<farm::optimist>();
  EXPECT_EQ(made.hopes_for.get(), &services.get<farm::pessimist>());
  EXPECT_EQ(made.hopes_for->needs, &made);
  EXPECT_TRUE(services.get<farm::hopeful>().had_one);
}

TEST(container_needs, shows_all_there_are_in_the_order_of_add) {
  container services;
  services.add<farm::listener>();
  services.add<farm::dog>({.sound = "one"}).as<farm::animal>().named("a");
  services.add<farm::cat>().as<farm::animal>();
  services.add<farm::dog>({.sound = "three"}).as<farm::animal>().named("c");
  EXPECT_EQ(services.get<farm::listener>().sounds(), "one miaow three ");
  container nobody;
  nobody.add<farm::listener>();
  EXPECT_TRUE(nobody.get<farm::listener>().animals.empty());
}

TEST(container_needs, finds_by_name) {
  container services;
  services.add<farm::chooser>();
  services.add<farm::dog>({.sound = "deep"}).named("rex");
  services.add<farm::dog>({.sound = "high"}).named("bello");
  EXPECT_EQ(services.get<farm::chooser>().rex, "deep");
  EXPECT_EQ(services.get<farm::chooser>().bello, "high");
}

TEST(container_needs, says_which_name_is_missing) {
  container services;
  services.add<farm::chooser>();
  services.add<farm::dog>().named("rex");
  try {
    static_cast<void>(services.get<farm::chooser>());
    FAIL() << "bello is missing";
  } catch (const std::logic_error& why) {
    EXPECT_STREQ(why.what(),
                 "farm::chooser needs farm::dog \"bello\", which nobody provides: "
                 "add<farm::dog>().named(\"bello\") is missing");
  }
}

TEST(container_needs, takes_the_only_one_or_the_only_one_without_a_name) {
  container one;
  one.add<farm::farmer>();
  one.add<farm::cat>().as<farm::animal>().named("tom");
  EXPECT_EQ(one.get<farm::farmer>().heard, "miaow");
  container several;
  several.add<farm::farmer>();
  several.add<farm::cat>().as<farm::animal>().named("tom");
  several.add<farm::dog>().as<farm::animal>();
  EXPECT_EQ(several.get<farm::farmer>().heard, "woof");
}

TEST(container_needs, does_not_choose_between_two) {
  container services;
  services.add<farm::farmer>();
  services.add<farm::cat>().as<farm::animal>();
  services.add<farm::dog>().as<farm::animal>();
  EXPECT_EQ(why_not(services),
            "farm::farmer needs farm::animal, which 2 services are: give all but one a name by "
            ".named(), and ask for those by weft::named<farm::animal, \"...\">");
}

TEST(container_needs, can_be_asked_again_when_the_missing_one_has_come) {
  container services;
  services.add<farm::farmer>();
  EXPECT_EQ(why_not(services),
            "farm::farmer needs farm::animal, which nobody provides: add<farm::animal>() is "
            "missing");
  services.add<farm::cat>().as<farm::animal>();
  EXPECT_EQ(why_not(services), "it can be made");
}

TEST(container_needs, makes_one_for_each_who_asks_and_tells_it_who_that_is) {
  struct crowd {
    explicit crowd(weft::many<farm::talker> everybody) : all{everybody} {}
    weft::many<farm::talker> all;
  };
  container services;
  services.add<farm::talker>().named("first");
  services.add<farm::logger>({.prefix = "* "}).per_consumer();
  services.add<farm::other_talker>();
  services.add<farm::talker>().named("second");
  services.add<crowd>();
  lines heard;
  for (const farm::talker& each : services.get<crowd>().all) heard.push_back(each.log->text);
  EXPECT_EQ(heard, (lines{"* farm::talker/first", "* farm::talker/second"}));
  EXPECT_EQ(services.get<farm::other_talker>().log->text, "* farm::other_talker/");
}

TEST(container_needs, gives_a_service_its_lifetime) {
  container services;
  services.add<farm::talker>();
  services.add<farm::logger>().per_consumer();
  const farm::talker& talker = services.get<farm::talker>();
  EXPECT_EQ(talker.life->name(), "farm::talker");
  EXPECT_EQ(talker.log->text, "- farm::talker/");
  EXPECT_EQ(talker.log->life->name(), "farm::logger");
}

TEST(container_needs, does_not_nest_instances_without_end) {
  container services;
  services.add<farm::farmer>();
  struct echo : farm::animal {
    explicit echo(farm::animal& below) : of{&below} {}
    [[nodiscard]] std::string sound() const override { return of->sound(); }
    farm::animal* of;
  };
  services.add<echo>().as<farm::animal>().per_consumer();
  EXPECT_NE(why_not(services).find("is per consumer and needs, in a circle, one of its own"),
            std::string::npos)
      << why_not(services);
}

TEST(container_needs, makes_what_is_lazy_only_for_somebody) {
  container nobody;
  nobody.add<farm::dog>().lazy();
  nobody.add<farm::cat>();
  static_cast<void>(nobody.get<farm::cat>());
  EXPECT_EQ(nobody.find<farm::dog>(), nullptr);

  container somebody;
  somebody.add<farm::dog>().as<farm::animal>().lazy();
  somebody.add<farm::farmer>();
  EXPECT_EQ(somebody.get<farm::farmer>().heard, "woof");

  container later;
  later.add<farm::farmer>();
  later.add<farm::dog>().as<farm::animal>().lazy();
  EXPECT_EQ(later.get<farm::farmer>().heard, "woof");
}

TEST(container_needs, binds_by_handle) {
  container services;
  const auto first = services.add<farm::mirror_base>().named("bottom").handle();
  weft::service_handle last = first;
  for (int i = 0; i < 5; ++i)
    last = services.add<farm::mirror>()
               .as<farm::mirror_base>()
               .named("mirror " + std::to_string(i))
               .bind<farm::mirror_base>(last)
               .handle();
  struct viewer {
    explicit viewer(weft::named<farm::mirror_base, "mirror 4"> top) : depth{top->depth} {}
    int depth;
  };
  services.add<viewer>();
  EXPECT_EQ(services.get<viewer>().depth, 5);
}

}  // namespace
