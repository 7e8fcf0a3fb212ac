// Batches of reads by Drogon and glaze.
#include <glaze/glaze.hpp>

#include "server.hpp"

template <class Text>
struct glz::meta<rdrs::operation_of<Text>> {
  using type = rdrs::operation_of<Text>;
  static constexpr auto value = glz::object("method", &type::method, "relative-url",
                                            &type::relative_url, "body", &type::body);
};

namespace {

struct glaze_library {
  static bool walk(std::string_view text, rdrs::summary& seen) {
    static thread_local rdrs::batch_of<std::string_view> views;
    if (!fill(text, views)) return false;
    seen = rdrs::summary_of(views);
    return true;
  }
  static bool read(std::string_view text, rdrs::batch& into) { return fill(text, into); }
  static void write(const rdrs::batch& batch, std::string& text) {
    (void)glz::write_json(batch, text);
  }

 private:
  /// glaze wants a NUL behind the text.
  template <class Batch>
  static bool fill(std::string_view text, Batch& into) {
    static thread_local std::string kept;
    kept = text;
    return !glz::read<glz::opts{.error_on_missing_keys = true}>(into, kept);
  }
};

}  // namespace

int main(int, char** argv) { return rdrs::serve<glaze_library>(argv[1]); }
