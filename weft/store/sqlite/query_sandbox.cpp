#include <weft/store/sqlite/query_sandbox.hpp>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/base/sanitizers.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::uint64_t memory_beside_queries = std::uint64_t{64} * 1024 * 1024;
constexpr rlim_t open_files_max = 32;

std::string describe(const char* what) {
  return weft::format("{}: {}", what, std::system_category().message(errno));
}

// Landlock (docs.kernel.org/userspace-api/landlock.html). The structures grow with the kernel, and
// what is zero is as if it were not there.

constexpr long landlock_create_ruleset = 444;  // the same numbers on every architecture
constexpr long landlock_add_rule = 445;
constexpr long landlock_restrict_self = 446;
constexpr unsigned asks_for_version = 1;
constexpr int rule_of_path = 1;

constexpr std::uint64_t may_write = 1U << 1U;
constexpr std::uint64_t may_read = 1U << 2U;

struct landlock_rules {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scopes = 0;
};
struct [[gnu::packed]] landlock_path {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};

/// All that this version knows is refused, but for what a rule allows.
landlock_rules rules_of(int version) noexcept {
  landlock_rules made{.files = (std::uint64_t{1} << 13U) - 1};
  if (version >= 2) made.files |= std::uint64_t{1} << 13U;  // moves to other folders
  if (version >= 3) made.files |= std::uint64_t{1} << 14U;  // truncation
  if (version >= 4) made.network = 3;                       // bind and connect, of TCP
  if (version >= 5) made.files |= std::uint64_t{1} << 15U;  // ioctl of devices
  if (version >= 6) made.scopes = 3;                        // abstract sockets, signals
  return made;
}

/// On rules that are none. For a thread that gains no privileges: another would be refused the last
/// one for that.
constexpr call_probe landlock_probes[] = {
    {"landlock_add_rule",
     [] noexcept -> long { return ::syscall(landlock_add_rule, -1, rule_of_path, nullptr, 0); }},
    {"landlock_restrict_self",
     [] noexcept -> long { return ::syscall(landlock_restrict_self, -1, 0); }},
};

int landlock_version() noexcept {
  const long version = ::syscall(landlock_create_ruleset, nullptr, 0, asks_for_version);
  if (version <= 0 || find_refused_call(landlock_probes)) return 0;
  return static_cast<int>(version);
}

/// A file that there is not is no mistake: it has no rule.
bool allow_file(int rules, const std::string& path, std::uint64_t allowed) noexcept {
  const int file = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (file < 0) return errno == ENOENT;
  const landlock_path rule{.allowed = allowed, .parent = file};
  const bool is_added = ::syscall(landlock_add_rule, rules, rule_of_path, &rule, 0) == 0;
  ::close(file);
  return is_added;
}

bool confine_files(int version, const std::string& database) noexcept {
  char* const real = ::realpath(database.c_str(), nullptr);
  if (real == nullptr) return false;
  const std::string path{real};
  std::free(real);
  const landlock_rules all = rules_of(version);
  const long made = ::syscall(landlock_create_ruleset, &all, sizeof all, 0);
  if (made < 0) return false;
  const int rules = static_cast<int>(made);
  const bool is_confined = allow_file(rules, path, may_read) &&
                           allow_file(rules, path + "-wal", may_read) &&
                           allow_file(rules, path + "-journal", may_read) &&
                           allow_file(rules, path + "-shm", may_read | may_write) &&
                           ::syscall(landlock_restrict_self, rules, 0) == 0;
  ::close(rules);
  return is_confined;
}

// seccomp: a program that looks at each system call (seccomp(2)).

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;  // no filter
#endif

constexpr long harmless_calls[] = {__NR_read,
                                   __NR_readv,
                                   __NR_pread64,
                                   __NR_preadv,
                                   __NR_preadv2,
                                   __NR_recvfrom,
                                   __NR_openat,
                                   __NR_close,
                                   __NR_lseek,
                                   __NR_fstat,
                                   __NR_newfstatat,
                                   __NR_statx,
                                   __NR_faccessat,
                                   __NR_faccessat2,
                                   __NR_readlinkat,
                                   __NR_getcwd,
                                   __NR_munmap,
                                   __NR_mremap,
                                   __NR_madvise,
                                   __NR_brk,
                                   __NR_futex,
                                   __NR_clock_gettime,
                                   __NR_clock_nanosleep,
                                   __NR_nanosleep,
                                   __NR_gettimeofday,
                                   __NR_getpid,
                                   __NR_gettid,
                                   __NR_getuid,
                                   __NR_geteuid,
                                   __NR_getrusage,
                                   __NR_getrandom,
                                   __NR_ppoll,
                                   __NR_sched_yield,
                                   __NR_rt_sigaction,
                                   __NR_rt_sigprocmask,
                                   __NR_rt_sigreturn,
                                   __NR_sigaltstack,
                                   __NR_restart_syscall,
                                   __NR_exit,
                                   __NR_exit_group,
#if defined(__x86_64__)
                                   __NR_open,
                                   __NR_stat,
                                   __NR_lstat,
                                   __NR_access,
                                   __NR_readlink,
                                   __NR_poll,
                                   __NR_time
#endif
};

constexpr std::uint32_t offset_of_argument(unsigned which) noexcept {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + (std::size_t{8} * which));
}

class call_filter {
 public:
  call_filter() {
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  }
  void allow(long call) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  /// Where the low half of the argument is one of these.
  void allow_with(long call, unsigned argument, std::initializer_list<std::uint32_t> ones) {
    const auto tests = static_cast<std::uint8_t>(2 * ones.size());
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0,
        static_cast<std::uint8_t>(tests + 2));
    add(BPF_LD | BPF_W | BPF_ABS, offset_of_argument(argument));
    for (const std::uint32_t each : ones) {
      add(BPF_JMP | BPF_JEQ | BPF_K, each, 0, 1);
      add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }
  void allow_without(long call, unsigned argument, std::uint32_t bits) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4);
    add(BPF_LD | BPF_W | BPF_ABS, offset_of_argument(argument));
    add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  [[nodiscard]] bool install() {
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    const sock_fprog program{.len = static_cast<unsigned short>(code_.size()),
                             .filter = code_.data()};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
  }

 private:
  void add(int code, std::uint32_t operand, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
    code_.push_back({static_cast<std::uint16_t>(code), if_true, if_false, operand});
  }
  std::vector<sock_filter> code_;
};

bool confine_calls() {
  call_filter filter;
  for (const long each : harmless_calls) filter.allow(each);
  for (const long each : {__NR_write, __NR_writev, __NR_sendto})
    filter.allow_with(each, 0, {STDERR_FILENO, query_channel});
  filter.allow_with(__NR_fcntl, 1,
                    {F_GETFD, F_SETFD, F_GETFL, F_GETLK, F_SETLK, F_OFD_GETLK, F_OFD_SETLK});
  filter.allow_with(__NR_prlimit64, 0, {0});  // its own
  for (const long each : {__NR_mmap, __NR_mprotect}) filter.allow_without(each, 2, PROT_EXEC);
  return filter.install();
}

bool is_bounded(int resource, rlim_t most) noexcept {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return false;
  now.rlim_max = std::min(now.rlim_max, most);
  now.rlim_cur = now.rlim_max;
  return ::setrlimit(static_cast<__rlimit_resource>(resource), &now) == 0;
}

/// What the process has mapped already: its program and libraries.
std::uint64_t mapped_bytes() noexcept {
  unsigned long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);  // was read from
  }
  constexpr std::uint64_t where_unknown = std::uint64_t{256} * 1024 * 1024;
  return pages == 0 ? where_unknown : pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

bool set_limits(std::uint64_t memory_bytes) noexcept {
  // A sanitizer maps more than there is.
  if (WEFT_SANITIZED == 0 &&
      !is_bounded(RLIMIT_AS, mapped_bytes() + memory_bytes + memory_beside_queries))
    return false;
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit is an error, then
  return is_bounded(RLIMIT_NOFILE, open_files_max) && is_bounded(RLIMIT_FSIZE, 0) &&
         is_bounded(RLIMIT_CORE, 0);
}

/// Where the system is out of memory, this process is to be ended and not the one it works for.
void be_first_to_go() noexcept {
  if (std::FILE* const file = std::fopen("/proc/self/oom_score_adj", "we")) {
    std::fputs("1000", file);  // where it fails, the kernel chooses as it would have
    std::fclose(file);         // as above
  }
}

/// Of the process itself, and of the one that starts it, which sees it end.
constexpr call_probe query_calls[] = {
    {"socketpair",
     [] noexcept -> long { return ::socketpair(AF_UNSPEC, SOCK_STREAM, 0, nullptr); }},
    {"sendto", [] noexcept -> long { return ::send(-1, nullptr, 0, 0); }},
    {"recvfrom", [] noexcept -> long { return ::recv(-1, nullptr, 0, 0); }},
    {"dup2", [] noexcept -> long { return ::dup2(-1, query_channel); }},
    {"kill", [] noexcept -> long { return ::kill(::getpid(), 0); }},
    {"wait4", [] noexcept -> long { return ::waitpid(::getpid(), nullptr, WNOHANG); }},
    {"prctl", [] noexcept -> long { return ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }},
    {"prlimit64",
     [] noexcept -> long {
       rlimit now{};
       return ::getrlimit(RLIMIT_CORE, &now);
     }},
};

/// For a thread that gains no privileges.
sandbox_support look_for_support() noexcept {
  // It looks at the filter, which is nowhere, once it knows that there are filters.
  const bool has_filters = architecture != 0 &&
                           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr, 0, 0) != 0 &&
                           errno == EFAULT;
  return {.landlock = landlock_version(), .seccomp = has_filters};
}

}  // namespace

std::optional<refused_call> find_refused_query_call() noexcept {
  return find_refused_call(query_calls);
}

sandbox_support find_sandbox_support() {
  sandbox_support found;
  std::thread{[&found] {
    // If it fails, so will the process for queries, and says so.
    static_cast<void>(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    found = look_for_support();
  }}.join();
  return found;
}

std::expected<sandbox_support, std::string> enter_sandbox(const std::string& database_file,
                                                          std::uint64_t memory_bytes) {
  be_first_to_go();  // the next makes its files root's
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return std::unexpected{describe("prctl")};
  const sandbox_support has = look_for_support();
  if (!set_limits(memory_bytes)) return std::unexpected{describe("setrlimit")};
  if (has.landlock != 0 && !confine_files(has.landlock, database_file))
    return std::unexpected{describe("Landlock")};
  if (has.seccomp && !confine_calls()) return std::unexpected{describe("seccomp")};
  return has;
}

void allow_processor_time(std::uint32_t seconds) noexcept {
  rusage used{};
  rlimit now{};
  if (::getrusage(RUSAGE_SELF, &used) != 0 || ::getrlimit(RLIMIT_CPU, &now) != 0) return;
  const rlim_t until = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds;
  now.rlim_cur = std::min<rlim_t>(now.rlim_max, until);
  // Lowering a soft limit does not fail; the deadline kills the process in any case.
  static_cast<void>(::setrlimit(RLIMIT_CPU, &now));
}

}  // namespace weft::store::sqlite
