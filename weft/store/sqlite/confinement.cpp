#include <weft/store/sqlite/confinement.hpp>

#include <algorithm>
#include <string_view>

namespace weft::store::sqlite {
namespace {

constexpr int instructions_between_questions = 1'000;  // some 5 us
/// Of expressions within expressions, over all selects of a query: each takes half a KiB of the
/// thread's stack (measured with SQLite 3.40, 3.46 and 3.54).
constexpr std::size_t expression_levels_max = 4'000;
constexpr std::size_t expression_depth_max = 1'000;

struct bound {
  int category;
  int most;
};
constexpr std::array bounds_of_clients{
    bound{SQLITE_LIMIT_LENGTH, confinement::value_bytes_max},
    bound{SQLITE_LIMIT_SQL_LENGTH, confinement::text_bytes_max}, bound{SQLITE_LIMIT_ATTACHED, 0},
    // No question is asked within a comparison.
    bound{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100}, bound{SQLITE_LIMIT_WORKER_THREADS, 0},
    bound{SQLITE_LIMIT_EXPR_DEPTH, expression_depth_max},
    // Each is looked for among all others.
    bound{SQLITE_LIMIT_VARIABLE_NUMBER, 1000},
    // Nor between two jumps of its machine's program.
    bound{SQLITE_LIMIT_VDBE_OP, 11'000}};

int depth_for(const query_shape& shape) noexcept {
  return static_cast<int>(std::min(
      expression_depth_max, expression_levels_max / std::max<std::size_t>(shape.selects, 1)));
}

/// Those that compute of their arguments, and of the time, and do nothing else. In order. Not
/// json_patch(), which takes a minute for two objects of a MiB.
constexpr std::array harmless_functions = std::to_array<std::string_view>({"->",
                                                                           "->>",
                                                                           "abs",
                                                                           "acos",
                                                                           "acosh",
                                                                           "asin",
                                                                           "asinh",
                                                                           "atan",
                                                                           "atan2",
                                                                           "atanh",
                                                                           "avg",
                                                                           "bm25",
                                                                           "ceil",
                                                                           "ceiling",
                                                                           "char",
                                                                           "coalesce",
                                                                           "concat",
                                                                           "concat_ws",
                                                                           "cos",
                                                                           "cosh",
                                                                           "count",
                                                                           "cume_dist",
                                                                           "current_date",
                                                                           "current_time",
                                                                           "current_timestamp",
                                                                           "date",
                                                                           "datetime",
                                                                           "degrees",
                                                                           "dense_rank",
                                                                           "exp",
                                                                           "first_value",
                                                                           "floor",
                                                                           "format",
                                                                           "geopoly_area",
                                                                           "geopoly_bbox",
                                                                           "geopoly_blob",
                                                                           "geopoly_ccw",
                                                                           "geopoly_contains_point",
                                                                           "geopoly_json",
                                                                           "geopoly_overlap",
                                                                           "geopoly_regular",
                                                                           "geopoly_svg",
                                                                           "geopoly_within",
                                                                           "geopoly_xform",
                                                                           "glob",
                                                                           "group_concat",
                                                                           "hex",
                                                                           "highlight",
                                                                           "if",
                                                                           "ifnull",
                                                                           "iif",
                                                                           "instr",
                                                                           "json",
                                                                           "json_array",
                                                                           "json_array_insert",
                                                                           "json_array_length",
                                                                           "json_error_position",
                                                                           "json_extract",
                                                                           "json_group_array",
                                                                           "json_group_object",
                                                                           "json_insert",
                                                                           "json_object",
                                                                           "json_pretty",
                                                                           "json_quote",
                                                                           "json_remove",
                                                                           "json_replace",
                                                                           "json_set",
                                                                           "json_type",
                                                                           "json_valid",
                                                                           "jsonb",
                                                                           "jsonb_array",
                                                                           "jsonb_array_insert",
                                                                           "jsonb_extract",
                                                                           "jsonb_group_array",
                                                                           "jsonb_group_object",
                                                                           "jsonb_insert",
                                                                           "jsonb_object",
                                                                           "jsonb_remove",
                                                                           "jsonb_replace",
                                                                           "jsonb_set",
                                                                           "julianday",
                                                                           "lag",
                                                                           "last_value",
                                                                           "lead",
                                                                           "length",
                                                                           "like",
                                                                           "likelihood",
                                                                           "likely",
                                                                           "ln",
                                                                           "log",
                                                                           "log10",
                                                                           "log2",
                                                                           "lower",
                                                                           "ltrim",
                                                                           "match",
                                                                           "matchinfo",
                                                                           "max",
                                                                           "median",
                                                                           "min",
                                                                           "mod",
                                                                           "nth_value",
                                                                           "ntile",
                                                                           "nullif",
                                                                           "octet_length",
                                                                           "offsets",
                                                                           "percent_rank",
                                                                           "percentile",
                                                                           "percentile_cont",
                                                                           "percentile_disc",
                                                                           "pi",
                                                                           "pow",
                                                                           "power",
                                                                           "printf",
                                                                           "quote",
                                                                           "radians",
                                                                           "random",
                                                                           "randomblob",
                                                                           "rank",
                                                                           "replace",
                                                                           "round",
                                                                           "row_number",
                                                                           "rtrim",
                                                                           "sign",
                                                                           "sin",
                                                                           "sinh",
                                                                           "snippet",
                                                                           "soundex",
                                                                           "sqlite_source_id",
                                                                           "sqlite_version",
                                                                           "sqrt",
                                                                           "strftime",
                                                                           "string_agg",
                                                                           "substr",
                                                                           "substring",
                                                                           "sum",
                                                                           "tan",
                                                                           "tanh",
                                                                           "time",
                                                                           "timediff",
                                                                           "total",
                                                                           "trim",
                                                                           "trunc",
                                                                           "typeof",
                                                                           "unhex",
                                                                           "unicode",
                                                                           "unistr",
                                                                           "unistr_quote",
                                                                           "unixepoch",
                                                                           "unlikely",
                                                                           "upper",
                                                                           "zeroblob"});
static_assert(std::ranges::is_sorted(harmless_functions));

bool is_harmless(const char* function) noexcept {
  return function != nullptr &&
         std::ranges::binary_search(harmless_functions, std::string_view{function});
}

/// FTS5 asks so whether what it has in memory is still good.
bool asks_for_changes(const char* pragma, const char* argument) noexcept {
  return pragma != nullptr && std::string_view{pragma} == "data_version" && argument == nullptr;
}

}  // namespace

int confinement::allow_reading(void* self, int action, const char* first, const char* second,
                               const char* /*database*/, const char* /*trigger*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION: return is_harmless(second) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
      return static_cast<confinement*>(self)->modules_read_ && asks_for_changes(first, second)
                 ? SQLITE_OK
                 : SQLITE_DENY;
    default: return SQLITE_DENY;
  }
}

confinement::confinement(connection& of, const query_shape& shape, int (*goes_on)(void* context),
                         void* context) noexcept
    : of_{of} {
  static_assert(bounds_of_clients.size() == bounds);
  for (std::size_t i = 0; i < bounds; ++i)
    before_[i] = sqlite3_limit(of.get(), bounds_of_clients[i].category, bounds_of_clients[i].most);
  sqlite3_limit(of.get(), SQLITE_LIMIT_EXPR_DEPTH, depth_for(shape));
  sqlite3_set_authorizer(of.get(), &allow_reading, this);
  sqlite3_progress_handler(of.get(), instructions_between_questions, goes_on, context);
}

confinement::~confinement() {
  sqlite3_progress_handler(of_.get(), 0, nullptr, nullptr);
  sqlite3_set_authorizer(of_.get(), nullptr, nullptr);
  for (std::size_t i = 0; i < bounds; ++i)
    sqlite3_limit(of_.get(), bounds_of_clients[i].category, before_[i]);
}

}  // namespace weft::store::sqlite
