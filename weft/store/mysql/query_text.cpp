#include <weft/store/mysql/query_text.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/store/mysql/query_clauses.hpp>
#include <weft/store/mysql/query_functions.hpp>
#include <weft/store/mysql/query_tokens.hpp>

namespace weft::store::mysql {
namespace {

std::unexpected<query_refusal> refuse(query_fault of, std::string message) {
  return std::unexpected{query_refusal{of, std::move(message)}};
}

constexpr std::array<std::string_view, 4> beginnings{"select", "with", "values", "table"};
/// What else a statement of SQL may begin with, so that it is not taken for a spelling mistake.
constexpr std::array<std::string_view, 28> other_beginnings{
    "alter",   "analyze",  "begin", "call", "commit",  "create",   "delete",
    "desc",    "describe", "do",    "drop", "execute", "explain",  "grant",
    "handler", "insert",   "load",  "lock", "prepare", "rename",   "replace",
    "revoke",  "rollback", "set",   "show", "start",   "truncate", "update"};
/// Functions that are called without parentheses, too.
constexpr std::array<std::string_view, 2> accounts{"current_user", "current_role"};

template <class Names>
bool is_in(std::string_view name, const Names& names) noexcept {
  return std::ranges::any_of(names,
                             [&](std::string_view each) { return is_same_word(name, each); });
}

bool begins_query(const token& of) noexcept {
  return of.is == token_kind::word && is_in(of.text, beginnings);
}

bool begins_with_digit(std::string_view word) noexcept {
  return word.front() >= '0' && word.front() <= '9';
}

class query_reader {
 public:
  query_reader(const query_request& request, const catalog& schema)
      : request_{request},
        schema_{schema},
        are_named_{!request.parameters.empty() && !request.parameters.front().name.empty()},
        is_used_(request.parameters.size()) {}

  std::expected<query_text, query_refusal> read() {
    token_reader tokens{request_.text};
    token before{};
    for (token here = tokens.next();; earlier_ = before, before = here, here = next_) {
      if (here.is == token_kind::end) break;
      next_ = tokens.next();
      if (auto why = judge(before, here); !why.empty()) return refuse(fault_, std::move(why));
      clauses_.pass(before, here, next_);
    }
    if (!has_begun_) return refuse(query_fault::syntax, "the query is empty: write a SELECT");
    if (auto why = judge_parameters(); !why.empty())
      return refuse(query_fault::semantic, std::move(why));
    made_.sql.append(request_.text.substr(copied_));
    return std::move(made_);
  }

 private:
  /// Empty: the query may go on.
  std::string judge(const token& before, const token& here) {
    fault_ = query_fault::unsupported;
    switch (here.is) {
      case token_kind::bad:
        fault_ = query_fault::syntax;
        return weft::format(
            "the query has, at byte {}, a quote or a comment that does not end, or a comment that "
            "is run",
            here.at);
      case token_kind::sign:
        if (auto why = judge_sign(before, here); !why.empty()) return why;
        if (here.text == "(") return {};
        break;
      case token_kind::word:
      case token_kind::quoted_name:
        if (auto why = judge_name(before, here); !why.empty()) return why;
        break;
      case token_kind::parameter:
      case token_kind::named: fault_ = query_fault::semantic; return take_parameter(here);
      case token_kind::text:
      case token_kind::end: break;
    }
    if (has_begun_) return {};
    has_begun_ = true;
    if (!is_in(here.text, other_beginnings)) fault_ = query_fault::syntax;
    return begins_query(here) ? std::string{} : std::string{"a query may only read, by SELECT"};
  }

  std::string judge_sign(const token& before, const token& here) {
    if (!is_name(before)) parts_ = 0;
    if (here.text == "@")
      return "variables (@) are not to be had: bind a value to a parameter, :name";
    if (here.text == "{") return "braces are not allowed in a query: write the value without them";
    if (here.text == "." && clauses_.place_of(before) == query_place::table)
      return "a point stands before a table's name: leave it out";
    return {};
  }

  std::string judge_name(const token& before, const token& here) {
    const bool is_after_point = is_sign(before, ".");
    if (is_glued_to_number(here, is_after_point)) {
      fault_ = query_fault::syntax;
      return weft::format("{} stands behind a number: write 1.0, and names in backticks",
                          here.text);
    }
    if (is_after_point) return judge_qualified(here);
    qualifier_ = here;
    parts_ = 1;
    const query_place place = clauses_.place_of(before);
    if (place == query_place::common_table) return {};
    if (is_sign(next_, "(")) return judge_call(before, here, place);
    const bool is_subquery = begins_query(here) && !is_sign(next_, ".");
    if (place == query_place::table && !is_subquery) return judge_source(here);
    return here.is == token_kind::word ? judge_word(here) : std::string{};
  }

  /// What stands where a table is named.
  std::string judge_source(const token& here) {
    table_follows_ = is_sign(next_, ".");
    if (table_follows_) return judge_database(here);
    const bool is_of_query = clauses_.has_common_table(name_of(here)) || is_word(here, "dual");
    return is_of_query ? std::string{} : judge_table(here);
  }

  [[nodiscard]] std::string judge_database(const token& named) {
    fault_ = query_fault::semantic;
    return name_of(named) == request_.database
               ? std::string{}
               : weft::format(
                     "{} is not the database of this query: it may read the tables of {} "
                     "alone, written like that",
                     named.text, request_.database);
  }

  [[nodiscard]] std::string judge_table(const token& here) {
    fault_ = query_fault::semantic;
    const std::string name = name_of(here);
    const bool is_known = std::ranges::any_of(schema_.tables(), [&](const auto& each) {
      return each->database() == request_.database && is_same_word(each->name(), name);
    });
    return is_known ? std::string{}
                    : weft::format(
                          "{} is no table of {} that is served: views are not, and a new "
                          "table is once the schema has been read again",
                          here.text, request_.database);
  }

  /// What stands behind a point.
  std::string judge_qualified(const token& here) {
    if (is_sign(next_, "("))
      return weft::format(
          "{}() is called by a database's name: functions are allowed by their own names alone",
          here.text);
    if (std::exchange(table_follows_, false)) return judge_table(here);
    return ++parts_ == 3 ? judge_database(qualifier_) : std::string{};
  }

  [[nodiscard]] std::string judge_call(const token& before, const token& here,
                                       query_place place) const {
    const bool is_quoted = here.is == token_kind::quoted_name;
    if (is_quoted ? is_allowed_function(name_of(here)) : is_allowed_before_parenthesis(here.text))
      return is_quoted ? std::string{} : judge_word(here);
    // The name of a subquery, with those of its columns.
    const bool names_columns =
        is_sign(before, ")") || (is_word(before, "as") && is_sign(earlier_, ")"));
    // Elsewhere MariaDB calls stored functions by these words.
    const bool is_clause = (is_word(here, "lateral") && place == query_place::table) ||
                           (is_word(here, "of") && is_word(before, "member")) ||
                           (is_word(here, "columns") && before.is == token_kind::text);
    return names_columns || is_clause
               ? std::string{}
               : weft::format("the function {}() is not allowed in a query", here.text);
  }

  [[nodiscard]] std::string judge_word(const token& here) const {
    if (is_in(here.text, accounts))
      return weft::format("{} is not to be had in a query", here.text);
    if (is_word(here, "regexp") || is_word(here, "rlike"))
      return weft::format("{} is not allowed in a query, since no server can stop it: use LIKE",
                          here.text);
    if (is_word(here, "into") || is_word(here, "procedure"))
      return weft::format("a query may only read, by SELECT: without {}", here.text);
    const bool is_locking =
        (is_word(here, "for") && (is_word(next_, "update") || is_word(next_, "share"))) ||
        (is_word(here, "lock") && is_word(next_, "in"));
    if (is_locking) return "a query takes no locks: leave FOR UPDATE or LOCK IN SHARE MODE out";
    const bool is_counting =
        is_word(next_, "value") && (is_word(here, "next") || is_word(here, "previous"));
    return is_counting ? "a query counts no sequence on" : std::string{};
  }

  /// MySQL takes "1." and "1e5" for numbers, and what follows for a word of its own.
  [[nodiscard]] bool is_glued_to_number(const token& word, bool is_after_point) const noexcept {
    if (word.is != token_kind::word) return false;
    if (begins_with_digit(word.text)) return !is_number(word.text);
    return is_after_point && earlier_.is == token_kind::word && begins_with_digit(earlier_.text);
  }

  std::string take_parameter(const token& here) {
    const std::span given = request_.parameters;
    const bool is_named = here.is == token_kind::named;
    made_.sql.append(request_.text.substr(copied_, here.at - copied_)).append("?");
    copied_ = here.at + here.text.size() + (is_named ? 1 : 0);
    if (!is_named) {
      if (are_named_)
        return weft::format("parameter {} has no name: give a list of values", ++places_);
      if (places_ < given.size()) made_.parameters.push_back(given[places_].bound);
      ++places_;
      return {};
    }
    const auto found = std::ranges::find(given, here.text, &query_parameter::name);
    if (found == given.end())
      return weft::format("no value is given for the parameter :{}", here.text);
    is_used_[static_cast<std::size_t>(found - given.begin())] = true;
    made_.parameters.push_back(found->bound);
    return {};
  }

  [[nodiscard]] std::string judge_parameters() const {
    const std::span given = request_.parameters;
    if (!are_named_)
      return places_ == given.size()
                 ? std::string{}
                 : weft::format("the query takes {} parameters, and {} are given", places_,
                                given.size());
    for (std::size_t i = 0; i < given.size(); ++i)
      if (!is_used_[i]) return weft::format("the query has no parameter named {}", given[i].name);
    return {};
  }

  const query_request& request_;
  const catalog& schema_;
  bool are_named_;
  std::vector<bool> is_used_;
  query_clauses clauses_;
  bool table_follows_ = false;  // behind the database's name and a point
  token qualifier_;             // the first part of a name
  int parts_ = 0;               // of that name
  token earlier_;               // before the one before
  token next_;
  query_text made_;
  std::size_t copied_ = 0;  // of the text, into made_.sql
  std::size_t places_ = 0;  // question marks
  bool has_begun_ = false;
  query_fault fault_ = query_fault::unsupported;  // of what is found to be wrong next
};

}  // namespace

std::expected<query_text, query_refusal> read_query_text(const query_request& request,
                                                         const catalog& schema) {
  if (request.text.size() > query_bytes_max)
    return refuse(query_fault::limit, weft::format("the query has {} bytes; at most {} are allowed",
                                                   request.text.size(), query_bytes_max));
  if (const auto nul = request.text.find('\0'); nul != std::string_view::npos)
    return refuse(
        query_fault::syntax,
        weft::format("the query has a NUL, at byte {}: bind such a value to a parameter", nul));
  return query_reader{request, schema}.read();
}

}  // namespace weft::store::mysql
