// The main program of each serializer: answers are checked, then writing and reading are timed.
//
// Contract: Library has
//   static constexpr const char* name;
//   static constexpr bool writes;                  // false: it only reads
//   void write(const T&, std::string& text);       // for each document's T; replaces the text
//   bool read(const std::string& text, T& value);  // into a new value
// Text that is read has room for `padding` further bytes behind it, as a receive buffer has. A line
// of JSON a document goes to the standard output; the exit code is 1 if an answer was wrong.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "documents.hpp"

namespace serializers {

inline constexpr std::size_t padding = 64;

template <class T>
void keep(T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

/// Core time, which others on the machine do not lengthen as they do the clock's.
template <class Work>
double nanoseconds_each(long count, Work work) {
  for (long i = 0; i < count / 10; ++i) work();  // warm
  const std::clock_t begin = std::clock();
  for (long i = 0; i < count; ++i) work();
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return seconds * 1e9 / static_cast<double>(count);
}

template <class Library, class T>
bool is_right(Library& library, const document<T>& what, const std::string& text) {
  T come{};
  const bool reads = library.read(text, come) && come == what.value;
  if (!reads) std::fprintf(stderr, "%s: read the %s wrongly\n", Library::name, what.name.data());
  return reads;
}

/// As text, or, since a number can be spelled in many ways, as what is read from it.
template <class Library, class T>
bool writes_right(Library& library, const document<T>& what) {
  std::string written;
  library.write(what.value, written);
  if (written == what.text) return true;
  written.reserve(written.size() + padding);
  if (is_right(library, what, written)) return true;
  std::fprintf(stderr, "%s: wrote\n%s\nnot\n%s\n", Library::name, written.c_str(),
               what.text.c_str());
  return false;
}

template <class Library, class T>
bool measure(Library& library, const document<T>& what, long bytes) {
  std::string text = what.text;
  text.reserve(text.size() + padding);
  if (!is_right(library, what, text)) return false;
  const long count = bytes / static_cast<long>(text.size()) + 1;
  const double read_ns = nanoseconds_each(count, [&] {
    T come{};
    library.read(text, come);
    keep(come);
  });
  std::printf(R"({"library": "%s", "document": "%s", "bytes": %zu, "read_ns": %.1f)", Library::name,
              what.name.data(), text.size(), read_ns);
  if constexpr (Library::writes) {
    if (!writes_right(library, what)) return false;
    std::string written;
    const double write_ns = nanoseconds_each(count, [&] {
      library.write(what.value, written);
      keep(written);
    });
    std::printf(R"(, "write_ns": %.1f)", write_ns);
  }
  std::printf("}\n");
  return true;
}

/// `PROGRAM [BYTES]`: how much text of each document is read, and is written.
template <class Library>
int run(int argc, char** argv) {
  const long bytes = argc > 1 ? std::atol(argv[1]) : 50'000'000;
  Library library;
  const bool all = measure(library, message_document(), bytes) &&
                   measure(library, request_document(), bytes) &&
                   measure(library, reply_document(), bytes);
  return all ? 0 : 1;
}

}  // namespace serializers
