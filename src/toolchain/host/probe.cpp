#include "toolchain/host/probe.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>

#include "base/hash.h"
#include "base/settings.h"
#include "toolchain/cached_compile.h"
#include "toolchain/fork.h"
#include "toolchain/host/invocation.h"

namespace accel {
namespace {

enum class Need { build, exact, fast };

struct Row {
  std::string text, families;
  Need need;
  std::string purpose;
  std::string other;  // the row that this one is another spelling of, or ""
};

const std::vector<Row>& table() {
  static const std::vector<Row>* rows = new std::vector<Row>{
#define FLAG(text, families, need, purpose) {text, #families, Need::need, purpose, ""},
#define FLAG_INSTEAD(text, other, families) {text, #families, Need::fast, "", other},
#include "toolchain/host/flags.inc"
  };
  return *rows;
}

constexpr std::string_view mark = "accel compiler\n";
constexpr const char* probe_text = R"(
#if defined(__clang__)
#define FAMILY "clang"
#elif defined(__GNUC__)
#define FAMILY "gnu"
#else
#error "kernels are written for g++ and clang++"
#endif
extern "C" __attribute__((used, visibility("default"))) const char accel_compiler[] =
    "accel compiler\n" FAMILY "\n" __VERSION__ "\n";
)";

bool is_for(const Row& row, const std::string& family) { return row.families == "any" || row.families == family; }

// The first spelling of each flag.
std::vector<std::string> flags_of(const std::string& family) {
  std::vector<std::string> flags;
  for (const Row& row : table())
    if (is_for(row, family) && row.other.empty()) flags.push_back(row.text);
  return flags;
}

std::vector<std::string> flags_to_build() {
  std::vector<std::string> flags;
  for (const Row& row : table())
    if (row.need == Need::build) flags.push_back(row.text);
  return flags;
}

bool has(const std::vector<std::string>& flags, const std::string& flag) {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

std::string family_by_name(const Compiler& compiler) {
  for (const auto& word : compiler.command) {
    std::string name = word.substr(word.find_last_of('/') + 1);
    if (name.find("clang") != name.npos || name.find("zig") != name.npos) return "clang";
  }
  return "gnu";
}

// One examination of a compiler.
class Prober {
 public:
  explicit Prober(const Compiler& compiler) : compiler_(compiler) {}

  Result<Probe> run() {
    const std::string guess = family_by_name(compiler_);
    ACCEL_TRY(bool understands_all, accepts(flags_of(guess)));
    if (!understands_all || found_.family != guess) {
      ACCEL_TRY([[maybe_unused]] Unit known, learn_family());
      ACCEL_TRY([[maybe_unused]] Unit searched, search(flags_to_build(), others()));
    }
    return found_;
  }

 private:
  // Whether the compiler makes a shared object with these flags; if so, they and what it says of itself are in found_. clang
  // warns of some flags that it does not know instead of refusing them.
  Result<bool> accepts(std::vector<std::string> flags) {
    auto given = flags;
    if (warnings_count_) given.emplace_back("-Werror");
    ACCEL_TRY(Invocation made, invoke(compiler_, given, probe_text));
    if (!made.object) {
      refusal_ = made.failure;
      return made.is_refused ? Result<bool>(false) : Result<bool>(made.failure);
    }
    size_t at = made.object->find(mark);
    if (at == made.object->npos) return fail(Reason::load_failed, compiler_.command[0] + " left a damaged shared object");
    std::istringstream lines(made.object->substr(at + mark.size(), 1000));
    std::getline(lines, found_.family) && std::getline(lines, found_.version);
    found_.flags = std::move(flags);
    return true;
  }

  // With as few flags as possible. What the words of CXX are warned of does not count.
  Status learn_family() {
    for (bool counts : {true, false}) {
      warnings_count_ = counts;
      ACCEL_TRY(bool works, accepts(flags_to_build()));
      if (works) return Unit{};
    }
    return refusal_;
  }

  std::vector<std::string> others() const {
    auto flags = flags_of(found_.family), first = flags_to_build();
    std::erase_if(flags, [&](const std::string& flag) { return has(first, flag); });
    return flags;
  }

  // Adds to the flags `known`, which are understood, those of `asked` that are. Halves what is refused.
  Status search(const std::vector<std::string>& known, const std::vector<std::string>& asked) {
    auto all = known;
    all.insert(all.end(), asked.begin(), asked.end());
    ACCEL_TRY(bool understands_all, accepts(all));
    if (understands_all) return Unit{};
    if (asked.size() == 1) return search_other(known, asked[0]);
    auto middle = asked.begin() + static_cast<long>(asked.size() / 2);
    ACCEL_TRY([[maybe_unused]] Unit searched, search(known, {asked.begin(), middle}));
    return search(std::vector(found_.flags), {middle, asked.end()});
  }

  // Other spellings of a flag that is not understood.
  Status search_other(const std::vector<std::string>& known, const std::string& flag) {
    for (const Row& row : table()) {
      if (row.other != flag || !is_for(row, found_.family)) continue;
      auto all = known;
      all.push_back(row.text);
      ACCEL_TRY(bool understood, accepts(all));
      if (understood) return Unit{};
    }
    found_.flags = known;
    return Unit{};
  }

  const Compiler& compiler_;
  bool warnings_count_ = true;
  Failure refusal_;
  Probe found_;
};

// Fails when a flag is left out that cannot be.
Result<Probe> completed(const Compiler& compiler, Probe probe) {
  for (const Row& row : table()) {
    auto spells = [&](const Row& other) { return other.other == row.text && has(probe.flags, other.text); };
    bool is_given = has(probe.flags, row.text) || std::any_of(table().begin(), table().end(), spells);
    if (!is_for(row, probe.family) || !row.other.empty() || is_given) continue;
    if (row.need != Need::fast)
      return fail(Reason::compiler_failed, compiler.command[0] + " (" + probe.version + ") does not understand " + row.text +
                                               ", without which results are not NumPy's (" + row.purpose +
                                               "): set CXX to g++ 12 or later or clang++ 14 or later");
    probe.absent.push_back({row.text, row.purpose});
  }
  return probe;
}

Digest key_of(const Compiler& compiler) {
  Blake2b hash;
  hash.update_field("accel compiler, format 1");
  hash.update_field(probe_text);
  hash.update_field(flag_table_text());
  hash.update_field(compiler.identity);
  return hash.finish();
}

std::string text_of(const Probe& probe) {
  std::string text = probe.family + "\n" + probe.version;
  for (const auto& flag : probe.flags) text += "\n" + flag;
  return text;
}

Probe read_probe(const std::string& text) {
  Probe probe;
  std::istringstream lines(text);
  std::getline(lines, probe.family) && std::getline(lines, probe.version);
  for (std::string flag; std::getline(lines, flag);) probe.flags.push_back(flag);
  return probe;
}

Result<Probe> load_or_probe(const Compiler& compiler) {
  const Digest key = key_of(compiler);
  auto cache = open_cache();
  if (cache)
    if (auto text = cache->load(key, compiler.identity, EntryKind::compiler)) return completed(compiler, read_probe(*text));
  ACCEL_TRY(Probe probe, Prober(compiler).run());
  store_compiled(cache, key, compiler.identity, text_of(probe), EntryKind::compiler);
  return completed(compiler, std::move(probe));
}

struct Probes {
  std::mutex mutex;
  std::map<std::string, Probe> by_identity;
};

}  // namespace

const std::string& flag_table_text() {
  static const std::string* text = [] {
    auto* made = new std::string;
    for (const Row& row : table()) *made += row.text + " " + row.families + "\n";
    return made;
  }();
  return *text;
}

Result<Probe> probe(const Compiler& compiler) {
  auto& known = process_wide<Probes>();
  {
    std::lock_guard lock(known.mutex);
    if (auto at = known.by_identity.find(compiler.identity); at != known.by_identity.end()) return at->second;
  }
  ACCEL_TRY(Probe made, load_or_probe(compiler));
  std::lock_guard lock(known.mutex);
  return known.by_identity.emplace(compiler.identity, std::move(made)).first->second;
}

}  // namespace accel
