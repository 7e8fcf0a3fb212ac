#include <weft/store/mysql/engine_options.hpp>

#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/read_file.hpp>
#include <weft/store/mysql/server_url.hpp>

namespace weft::store::mysql {
namespace {

constexpr std::size_t pem_bytes_max = 16UL * 1024 * 1024;
constexpr std::size_t password_file_bytes_max = 4096;

/// What is wrong with the servers to read from; empty: nothing is.
std::string fault_of_replicas(const engine_options& options) {
  if (options.replicas.empty()) return {};
  if (options.server.empty()) return "there is no server that they follow: name it by `server`";
  const auto given = read_server_url(options.replicas);
  if (!given) return given.error();
  const bool says_more =
      !given->user.empty() || !given->databases.empty() || given->tls_or({}) != tls_options{};
  return says_more ? "user, databases and TLS are those of `server`: name hosts alone, such as "
                     "two.example,three.example:3307"
                   : "";
}

/// Of the files of TLS.
void look_at_files(const tls_options& asked, std::vector<option_fault>& found) {
  const std::size_t before = found.size();
  struct named_file {
    std::string_view option;
    const std::string& name;
  };
  for (const auto& [option, name] :
       {named_file{"tls.ca", asked.ca}, named_file{"tls.crl", asked.crl},
        named_file{"tls.certificate", asked.certificate}, named_file{"tls.key", asked.key}}) {
    if (name.empty()) continue;
    if (asked.mode == tls_mode::off)
      found.push_back(
          {option, weft::format("\"{}\" is of no use without TLS: say tls=verify", name)});
    else if (const auto text = read_file(name, pem_bytes_max); !text)
      found.push_back({option, weft::format("cannot read \"{}\": {}", name, text.error())});
  }
  if (found.size() != before) return;
  if (std::string fault = fault_of_lists(asked); !fault.empty())
    found.push_back({"tls.crl", std::move(fault)});
}

}  // namespace

std::vector<option_fault> engine_options::faults() const {
  std::vector<option_fault> found;
  if (std::string fault = fault_of_replicas(*this); !fault.empty())
    found.push_back({"replicas", std::move(fault)});
  if (server.empty()) return found;
  if (!password_file.empty())
    if (const auto text = read_file(password_file, password_file_bytes_max); !text)
      found.push_back(
          {"password_file", weft::format("cannot read \"{}\": {}", password_file, text.error())});
  const auto url = read_server_url(server);
  if (!url) {
    found.push_back({"server", url.error()});
    return found;
  }
  const tls_options asked = url->tls_or(tls);
  if (asked.mode != tls_mode::off && url->addresses.front().starts_with("unix:"))
    found.push_back({"tls.mode", "what goes by a Unix socket stays on this machine: say off"});
  if (asked.certificate.empty() && !asked.key.empty())
    found.push_back({"tls.certificate", "there is a key, and no certificate that it belongs to"});
  if (!asked.crl.empty() && (asked.ca.empty() || asked.mode == tls_mode::required)) {
    found.push_back(
        {"tls.crl",
         "it is looked at for servers of `tls.ca`, where `tls.mode` is verify_ca or verify"});
    return found;
  }
  look_at_files(asked, found);
  return found;
}

}  // namespace weft::store::mysql
