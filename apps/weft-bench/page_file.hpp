// The page that --html asks for.
//
// Contract: opened before what it is to tell of is measured, which would be in vain if it could not
// be. No name, no page.
//
//   page_file page{options.html};
//   if (!page.could_be_opened()) return complain("load", std::strerror(errno));
//   return page.write(to_html(options, result), status);
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace weft::bench {

class page_file {
 public:
  explicit page_file(const std::string& path);

  /// If not, errno says why.
  [[nodiscard]] bool could_be_opened() const { return file_ != nullptr || path_.empty(); }
  /// The exit status: `status`, unless not all could be written.
  int write(std::string_view page, int status);

 private:
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace weft::bench
