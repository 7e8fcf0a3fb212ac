// Runs the cases of tests/conformance/http1/, whose README.md describes the format: each whole, cut
// in two at every byte, byte by byte, and against a page that may not be touched.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tests/conformance/message_outcome.hpp>

namespace weft::http {
namespace {

struct conformance_case {
  std::string name;
  std::string file;
  std::string bytes;
  std::string expect;              // "accept", "incomplete" or a status
  std::vector<std::string> facts;  // lines that the outcome must hold
  limits bounds;
};

std::string unescape(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
      continue;
    }
    switch (text.at(++i)) {
      case 'r': bytes += '\r'; break;
      case 'n': bytes += '\n'; break;
      case 't': bytes += '\t'; break;
      case 's': bytes += ' '; break;
      case '\\': bytes += '\\'; break;
      case 'x':
        bytes += static_cast<char>(std::stoi(std::string{text.substr(i + 1, 2)}, nullptr, 16));
        i += 2;
        break;
      default: throw std::runtime_error("unknown escape in: " + std::string{text});
    }
  }
  return bytes;
}

void set_limit(limits& bounds, const std::string& text) {
  const std::size_t space = text.find(' ');
  const std::string name = text.substr(0, space);
  const std::size_t value = std::stoul(text.substr(space));
  if (name == "request_line_bytes")
    bounds.request_line_bytes = value;
  else if (name == "head_bytes")
    bounds.head_bytes = value;
  else if (name == "headers")
    bounds.headers = value;
  else if (name == "body_bytes")
    bounds.body_bytes = value;
  else if (name == "chunk_extension_bytes")
    bounds.chunk_extension_bytes = value;
  else if (name == "trailer_bytes")
    bounds.trailer_bytes = value;
  else
    throw std::runtime_error("unknown limit: " + name);
}

void add_line(conformance_case& to, const std::string& line) {
  const std::size_t colon = line.find(": ");
  if (colon == line.npos) throw std::runtime_error("no key in: " + line);
  const std::string key = line.substr(0, colon);
  const std::string value = line.substr(colon + 2);
  if (key == "send")
    to.bytes += unescape(value);
  else if (key.starts_with("send*"))
    for (int i = std::stoi(key.substr(5)); i > 0; --i) to.bytes += unescape(value);
  else if (key == "expect")
    to.expect = value;
  else if (key == "fact")
    to.facts.push_back(unescape(value));
  else if (key == "limit")
    set_limit(to.bounds, value);
  else if (key != "rule")
    throw std::runtime_error("unknown key: " + key);
}

std::vector<conformance_case> read_cases() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{"tests/conformance/http1"})
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<conformance_case> cases;
  for (const auto& path : files) {
    std::ifstream file{path};
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      if (line[0] == '[')
        cases.push_back({.name = line.substr(1, line.size() - 2),
                         .file = path.filename(),
                         .bytes = {},
                         .expect = {},
                         .facts = {},
                         .bounds = {}});
      else
        add_line(cases.back(), line);
    }
  }
  return cases;
}

const std::vector<conformance_case>& cases() {
  static const std::vector<conformance_case> all = read_cases();
  return all;
}

// Bytes that end where a page begins that may not be read.
class guarded_bytes {
 public:
  explicit guarded_bytes(std::string_view bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t readable = (bytes.size() / page + 1) * page;
    size_ = readable + page;
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    memory_ = static_cast<char*>(memory);
    mprotect(memory_ + readable, page, PROT_NONE);
    char* const begin = memory_ + readable - bytes.size();
    bytes.copy(begin, bytes.size());
    text_ = {begin, bytes.size()};
  }
  guarded_bytes(const guarded_bytes&) = delete;
  guarded_bytes& operator=(const guarded_bytes&) = delete;
  ~guarded_bytes() { munmap(memory_, size_); }
  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  char* memory_;
  std::size_t size_;
  std::string_view text_;
};

// The outcome's first word, and each line that is to be there.
void check(const conformance_case& one, const std::string& outcome) {
  EXPECT_EQ(outcome.substr(0, outcome.find_first_of(" \n")), one.expect) << outcome;
  for (const std::string& fact : one.facts)
    EXPECT_NE(("\n" + outcome).find("\n" + fact + "\n"), std::string::npos)
        << "no " << fact << " in\n"
        << outcome;
}

TEST(conformance, cases_are_there_and_well_formed) {
  ASSERT_GT(cases().size(), 200u);
  for (const conformance_case& one : cases()) {
    EXPECT_FALSE(one.name.empty());
    EXPECT_FALSE(one.expect.empty()) << one.file << ": " << one.name;
    for (const conformance_case& other : cases())
      EXPECT_TRUE(&one == &other || one.name != other.name) << "two cases of the name " << one.name;
  }
}

TEST(conformance, whole) {
  for (const conformance_case& one : cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    check(one, describe_message(one.bytes, {}, one.bounds));
  }
}

TEST(conformance, at_a_guard_page) {
  for (const conformance_case& one : cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    check(one, describe_message_in_place(guarded_bytes{one.bytes}.text(), one.bounds));
  }
}

// Every beginning of a message, too, must be read without touching what is not there.
TEST(conformance, every_beginning_at_a_guard_page) {
  for (const conformance_case& one : cases()) {
    if (one.bytes.size() > 600) continue;
    for (std::size_t size = 0; size < one.bytes.size(); ++size) {
      const std::string_view beginning = std::string_view{one.bytes}.substr(0, size);
      EXPECT_EQ(describe_message_in_place(guarded_bytes{beginning}.text(), one.bounds),
                describe_message(beginning, {}, one.bounds));
    }
  }
}

TEST(conformance, cut_at_every_byte) {
  for (const conformance_case& one : cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    const std::string whole = describe_message(one.bytes, {}, one.bounds);
    const std::size_t stride = one.bytes.size() < 2000 ? 1 : 97;
    for (std::size_t cut = 0; cut <= one.bytes.size(); cut += stride)
      ASSERT_EQ(describe_message(one.bytes, {&cut, 1}, one.bounds), whole) << "cut at " << cut;
  }
}

TEST(conformance, byte_by_byte) {
  for (const conformance_case& one : cases()) {
    SCOPED_TRACE(one.file + ": " + one.name);
    std::vector<std::size_t> cuts(one.bytes.size());
    std::iota(cuts.begin(), cuts.end(), 0uz);
    EXPECT_EQ(describe_message(one.bytes, cuts, one.bounds),
              describe_message(one.bytes, {}, one.bounds));
  }
}

}  // namespace
}  // namespace weft::http
