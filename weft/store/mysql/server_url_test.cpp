#include <weft/store/mysql/server_url.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/store/mysql/engine_options.hpp>

namespace weft::store::mysql {
namespace {

/// "USER at ADDRESS has DATABASE,DATABASE", or what is wrong.
std::string read_url(std::string_view text) {
  const auto made = read_server_url(text);
  if (!made) return made.error();
  std::string databases;
  for (const std::string& each : made->databases)
    databases += (databases.empty() ? "" : ",") + each;
  std::string addresses;
  for (const std::string& each : made->addresses)
    addresses += (addresses.empty() ? "" : ",") + each;
  return made->user + " at " + addresses + " has " + databases;
}

TEST(mysql_server_url, says_where_and_who_and_what) {
  EXPECT_EQ(read_url("mysql://shop@db.example:3307/shop,archive"),
            "shop at db.example:3307 has shop,archive");
  EXPECT_EQ(read_url("mysql://db.example"), " at db.example:3306 has ");
  EXPECT_EQ(read_url("a@b@db/x"), "a@b at db:3306 has x");
  EXPECT_EQ(read_url("shop@[::1]/shop"), "shop at [::1]:3306 has shop");
  EXPECT_EQ(read_url("[::1]:5"), " at [::1]:5 has ");
  EXPECT_EQ(read_url("127.0.0.1/"), " at 127.0.0.1:3306 has ");
  EXPECT_EQ(read_url("unix:/run/a@b/socket"), " at unix:/run/a@b/socket has ");
}

TEST(mysql_server_url, names_all_servers_of_a_cluster) {
  EXPECT_EQ(read_url("mysql://shop@one:3307,two,[::1],[::1]:9/shop,archive"),
            "shop at one:3307,two:3306,[::1]:3306,[::1]:9 has shop,archive");
  EXPECT_EQ(read_url("10.0.0.1,10.0.0.2:1"), " at 10.0.0.1:3306,10.0.0.2:1 has ");
  EXPECT_EQ(read_url("unix:/run/a,b"), " at unix:/run/a,b has ");
  EXPECT_EQ(read_url("one,two,one:3306"), "the server one:3306 is named twice");
  EXPECT_TRUE(read_url("one,,two").starts_with("\"one,,two\" is no server (there is a comma"));
  EXPECT_TRUE(
      read_url("one,two:x/shop").starts_with("\"one,two:x/shop\" is no server (\"two:x\")"));
  EXPECT_TRUE(read_url("one,").contains("a comma too many"));
}

TEST(mysql_server_url, says_what_is_asked_of_tls) {
  const tls_options otherwise{.mode = tls_mode::required, .ca = "other.pem", .key = "other.key"};
  EXPECT_EQ(read_server_url("shop@db/x")->tls_or(otherwise), otherwise);
  const auto all =
      read_server_url("mysql://shop@db/x?tls=verify-ca&tls_ca=/a/ca.pem&tls_cert=c.pem&tls_key=k");
  ASSERT_TRUE(all) << all.error();
  EXPECT_EQ(all->addresses.front(), "db:3306");
  EXPECT_EQ(all->databases, std::vector<std::string>{"x"});
  EXPECT_EQ(
      all->tls_or(otherwise),
      (tls_options{
          .mode = tls_mode::verify_ca, .ca = "/a/ca.pem", .certificate = "c.pem", .key = "k"}));
  EXPECT_EQ(read_server_url("db?tls_crl=/a/ca.crl")->tls_or(otherwise).crl, "/a/ca.crl");
  EXPECT_EQ(read_server_url("db?tls=off")->tls_or(otherwise).mode, tls_mode::off);
  EXPECT_EQ(read_server_url("db?tls=verify")->tls_or({}).mode, tls_mode::verify);
  EXPECT_EQ(read_url("db?"), " at db:3306 has ");
  EXPECT_EQ(read_url("db?tls=on"), "tls is off, required, verify-ca or verify, and not \"on\"");
  EXPECT_EQ(read_url("db?tls"), "tls is off, required, verify-ca or verify, and not \"\"");
  EXPECT_EQ(read_url("db?tls_ca="), "tls_ca is to name a file");
  EXPECT_EQ(read_url("db?ssl=1"),
            "a server has no option \"ssl\": there are tls, tls_ca, tls_crl, tls_cert, tls_key");
  EXPECT_FALSE(read_url("mysql://shop:hun?ter2@db/x").contains("ter2"));
}

TEST(mysql_engine_options, name_what_is_wrong_with_the_files_of_tls) {
  const auto faults_of = [](std::string server, tls_options tls = {}) {
    std::string told;
    for (const option_fault& each :
         engine_options{.server = std::move(server), .tls = std::move(tls)}.faults())
      told.append(each.option).append(": ").append(each.what).append("\n");
    return told;
  };
  EXPECT_EQ(faults_of("db"), "");
  EXPECT_EQ(faults_of(""), "");
  EXPECT_EQ(faults_of("db?tls=verify"), "");
  EXPECT_TRUE(
      faults_of("db?tls=verify&tls_ca=/no/ca").starts_with("tls.ca: cannot read \"/no/ca\": "));
  EXPECT_EQ(faults_of("db?tls_ca=/no/ca"),
            "tls.ca: \"/no/ca\" is of no use without TLS: say tls=verify\n");
  EXPECT_TRUE(faults_of("db", {.mode = tls_mode::verify, .key = "/no/key"})
                  .starts_with("tls.certificate: there is a key, and no certificate"));
  EXPECT_TRUE(faults_of("unix:/run/x", {.mode = tls_mode::verify}).starts_with("tls.mode: "));
}

TEST(mysql_engine_options, have_replicas_named_by_their_hosts_alone) {
  const auto faults_of = [](std::string server, std::string replicas) {
    std::string told;
    for (const option_fault& each :
         engine_options{.server = std::move(server), .replicas = std::move(replicas)}.faults())
      told.append(each.option).append(": ").append(each.what).append("\n");
    return told;
  };
  EXPECT_EQ(faults_of("shop@one/shop", "two,three:3307,[::1]"), "");
  EXPECT_EQ(faults_of("shop@one/shop", "mysql://two"), "");
  EXPECT_TRUE(faults_of("", "two").starts_with("replicas: there is no server"));
  EXPECT_TRUE(faults_of("one", "two,,").starts_with("replicas: \"two,,\" is no server"));
  for (const char* const more : {"shop@two", "two/shop", "two?tls=verify"})
    EXPECT_TRUE(faults_of("one", more).contains("name hosts alone")) << more;
}

TEST(mysql_server_url, reads_what_has_signs_of_its_own) {
  EXPECT_EQ(read_url("o%27neil%40x@db/d%20e,f%2fg,100%"), "o'neil@x at db:3306 has d e,f/g,100%");
  EXPECT_TRUE(read_url("u@db/d/e").starts_with("\"d/e\" is no list of databases"));
  EXPECT_TRUE(read_url("u@db/d#e").starts_with("\"d#e\" is no list of databases"));
  EXPECT_EQ(read_url("db?tls=verify&tls=off"), "tls is said twice");
  EXPECT_EQ(read_url("db?tls_ca=a&tls_ca=b"), "tls_ca is said twice");
}

TEST(mysql_server_url, refuses_what_is_none_and_shows_no_password) {
  for (const char* const text : {"", "mysql://", "db:port", "db:0", "db:99999", ":3306", "a@",
                                 "u@fe80::1", "u@[::1", "u@::1]", "u@ho st", "u@h#x:1"})
    EXPECT_TRUE(read_url(text).ends_with("unix:/run/mysqld/mysqld.sock")) << read_url(text);
  const std::string told = read_url("shop:hunter2@db");
  EXPECT_TRUE(told.starts_with("a password is not written here")) << told;
  EXPECT_EQ(told.find("hunter2"), std::string::npos);
  EXPECT_FALSE(read_url("mysql://shop:hun/ter2@db/x").contains("ter2"));
}

}  // namespace
}  // namespace weft::store::mysql
