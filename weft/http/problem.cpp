#include <weft/http/problem.hpp>

#include <weft/json/write.hpp>

namespace weft::http {
namespace {

/// The members of the document, in its order. Those that are not known are left out.
struct document {
  std::string_view title;
  std::uint16_t status;
  std::optional<std::string_view> detail;
  std::optional<std::uint64_t> offset;
  std::optional<std::string_view> path;
};

}  // namespace

void write_problem(const problem& what, std::string& out) {
  json::write(document{.title = what.title.empty() ? reason_phrase(what.status) : what.title,
                       .status = static_cast<std::uint16_t>(what.status),
                       .detail = what.detail.empty() ? std::nullopt : std::optional{what.detail},
                       .offset = what.offset,
                       .path = what.path},
              out);
}

}  // namespace weft::http
