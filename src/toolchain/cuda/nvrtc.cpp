#include "toolchain/cuda/nvrtc.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>

#include "base/settings.h"
#include "toolchain/cuda/libraries.h"
#include "toolchain/fork.h"

namespace accel {
namespace {

// NVRTC opens its library of built-in functions by name alone, which fails where the folder is none of the system's.
const CudaLibraryNames nvrtc_names{{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}, {"libnvrtc-builtins.so.*"}};

// What was loaded, by the setting and the folders at that time.
struct Loaded {
  std::mutex mutex;
  std::map<std::string, const Nvrtc*> by_place;
  const Nvrtc* last = nullptr;
  std::string last_wanted;  // the setting with which `last` was found
};

Loaded& loaded() { return process_wide<Loaded>(); }

std::string place_of(const std::string& wanted, const std::vector<std::string>& folders) {
  if (!wanted.empty()) return wanted;
  std::string place;
  for (const std::string& folder : folders) place += ":" + folder;
  return place;
}

const Nvrtc* find_loaded(const std::string& place) {
  std::lock_guard lock(loaded().mutex);
  auto at = loaded().by_place.find(place);
  return at == loaded().by_place.end() ? nullptr : at->second;
}

// A failure unless `result`, of the function `what`, says success.
Status check(const NvrtcFunctions& functions, int result, const char* what) {
  if (result == 0) return Unit{};
  return fail(Reason::nvrtc_failed, std::string(what) + ": " + functions.GetErrorString(result));
}

std::string size_of_file(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 ? std::to_string(info.st_size) : "";
}

Status read_facts(Nvrtc& nvrtc) {
  const NvrtcFunctions& call = nvrtc.functions;
  ACCEL_TRY(Unit known, check(call, call.Version(&nvrtc.info.major, &nvrtc.info.minor), "nvrtcVersion"));
  int count = 0;
  ACCEL_TRY(known, check(call, call.GetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs"));
  nvrtc.architectures.resize(static_cast<size_t>(count));
  ACCEL_TRY(known, check(call, call.GetSupportedArchs(nvrtc.architectures.data()), "nvrtcGetSupportedArchs"));
  std::sort(nvrtc.architectures.begin(), nvrtc.architectures.end());
  nvrtc.identity = "NVRTC " + std::to_string(nvrtc.info.major) + "." + std::to_string(nvrtc.info.minor) + ", " +
                   size_of_file(nvrtc.info.path) + " bytes";
  return known;
}

Result<const Nvrtc*> load(const std::string& wanted) {
  ACCEL_TRY(CudaLibrary library, wanted.empty() ? open_cuda_library(nvrtc_names, Reason::no_nvrtc)
                                                : open_cuda_library_at(wanted, nvrtc_names, Reason::no_nvrtc));
  auto nvrtc = std::make_unique<Nvrtc>();
  nvrtc->info.path = library.path;
  const std::vector<const char*> symbols = {
#define NVRTC_FUNCTION(result, name, ...) "nvrtc" #name,
#include "toolchain/cuda/nvrtc.inc"
#undef NVRTC_FUNCTION
  };
  ACCEL_TRY(Unit done, find_functions(library, symbols, reinterpret_cast<void**>(&nvrtc->functions), Reason::no_nvrtc));
  ACCEL_TRY(done, read_facts(*nvrtc));
  return const_cast<const Nvrtc*>(nvrtc.release());
}

// A CUBIN runs on devices of its major number whose minor number is not less.
Result<int> choose_architecture(const Nvrtc& nvrtc, int wanted) {
  int best = 0;
  for (int known : nvrtc.architectures)
    if (known <= wanted && known / 10 == wanted / 10) best = known;
  if (best > 0) return best;
  std::string version = std::to_string(nvrtc.info.major) + "." + std::to_string(nvrtc.info.minor);
  return fail(Reason::nvrtc_failed, nvrtc.info.path + ": version " + version + " does not know the architecture sm_" +
                                        std::to_string(wanted) + "; another version does");
}

// A program of NVRTC, destroyed at the end of its life.
class Compilation {
 public:
  Compilation(const NvrtcFunctions& functions) : call_(functions) {}
  Compilation(const Compilation&) = delete;
  ~Compilation() {
    if (program_) call_.DestroyProgram(&program_);
  }

  Status start(const std::string& text) {
    return check(call_, call_.CreateProgram(&program_, text.c_str(), "kernel.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
  }

  Status compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return check(call_, call_.CompileProgram(program_, static_cast<int>(pointers.size()), pointers.data()), "NVRTC");
  }

  std::string log() const { return read(call_.GetProgramLogSize, call_.GetProgramLog).c_str(); }
  std::string cubin() const { return read(call_.GetCUBINSize, call_.GetCUBIN); }

 private:
  std::string read(int (*size)(void*, size_t*), int (*get)(void*, char*)) const {
    size_t bytes = 0;
    if (size(program_, &bytes) != 0) return {};
    std::string text(bytes, '\0');
    return get(program_, text.data()) == 0 ? text : std::string();
  }

  const NvrtcFunctions& call_;
  void* program_ = nullptr;
};

// The first errors of a log, or else its first lines, as one line.
std::string summary(const std::string& log) {
  std::string errors, lines;
  int error_count = 0, line_count = 0;
  std::istringstream stream(log);
  for (std::string line; std::getline(stream, line);) {
    if (line.find_first_not_of(" ^~\r") == line.npos || line.find("detected in the compilation") != line.npos) continue;
    if (line.find("error") != line.npos && error_count++ < 3) errors += (errors.empty() ? "" : " | ") + line;
    if (line_count++ < 3) lines += (lines.empty() ? "" : " | ") + line;
  }
  return errors.empty() ? lines : errors;
}

}  // namespace

// fmad, prec-div, prec-sqrt and ftz decide bits: each operation is rounded by itself, as on the CPU. Functions of the prelude
// have no __device__. `minimal` leaves out declarations that kernels do not use, a tenth of the time of a compile.
const std::vector<std::string>& nvrtc_options() {
  static const auto* options =
      new std::vector<std::string>{"--std=c++20",     "--fmad=false",        "--ftz=false",
                                   "--prec-div=true", "--prec-sqrt=true",    "--device-as-default-execution-space",
                                   "--minimal",       "--no-source-include", "--disable-warnings"};
  return *options;
}

// Without the lock while a library is loaded: the same library twice does no harm.
Result<const Nvrtc*> load_nvrtc() {
  const std::string& wanted = settings().nvrtc.get();
  std::string place = place_of(wanted, cuda_library_folders());
  const Nvrtc* nvrtc = find_loaded(place);
  if (!nvrtc) {
    ACCEL_TRY(nvrtc, load(wanted));
  }
  std::lock_guard lock(loaded().mutex);
  loaded().last_wanted = wanted;
  return loaded().last = loaded().by_place.try_emplace(place, nvrtc).first->second;
}

std::string loaded_nvrtc_identity() {
  std::lock_guard lock(loaded().mutex);
  return loaded().last && loaded().last_wanted == settings().nvrtc.get() ? loaded().last->identity : "";
}

Result<NvrtcInfo> find_nvrtc() {
  ACCEL_TRY(const Nvrtc* nvrtc, load_nvrtc());
  return nvrtc->info;
}

Result<std::string> run_nvrtc(const Nvrtc& nvrtc, const std::string& text, int architecture, std::string* log) {
  ACCEL_TRY(int target, choose_architecture(nvrtc, architecture));
  std::vector<std::string> options = nvrtc_options();
  options.push_back("--gpu-architecture=sm_" + std::to_string(target));
  Compilation compilation(nvrtc.functions);
  ACCEL_TRY([[maybe_unused]] Unit started, compilation.start(text));
  Status compiled = compilation.compile(options);
  std::string messages = compilation.log();
  if (log) *log = messages;
  if (!compiled.ok()) {
    std::string lines = summary(messages);
    return lines.empty() ? compiled.failure() : fail(Reason::nvrtc_failed, lines);
  }
  std::string cubin = compilation.cubin();
  if (!cubin.starts_with("\x7f"
                         "ELF"))
    return fail(Reason::nvrtc_failed, "NVRTC left no CUBIN");
  return cubin;
}

}  // namespace accel
