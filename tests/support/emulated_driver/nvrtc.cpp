// NVRTC's functions, with g++ as the compiler: a "CUBIN" is a shared object that the emulated driver loads.
//
// EMULATED_COMPILER, EMULATED_FLAGS and EMULATED_VERSION come from build.py. The header of CUDA text and its precompiled form
// lie in the folder of this library.

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

extern char** environ;

#define NVRTC_FUNCTION extern "C" __attribute__((visibility("default"))) int

namespace {

enum NvrtcResult { success = 0, out_of_memory = 1, invalid_input = 3, invalid_option = 5, compilation_failed = 6 };

struct Program {
  std::string text, log, image;
};

std::string own_folder() {
  Dl_info info;
  dladdr(reinterpret_cast<void*>(&own_folder), &info);
  std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/'));
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

// The text with comments and literals blanked, so that braces in them do not count.
std::string code_of(const std::string& text) {
  static const std::regex other(R"(//[^\n]*|/\*[^]*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])')");
  std::string code = text;
  for (std::sregex_iterator at(text.begin(), text.end(), other), end; at != end; ++at)
    if ((*at)[0] != "\"C\"") code.replace(at->position(), at->length(), at->length(), ' ');
  return code;
}

// The lines that make a text's kernels known to the driver, by their names with the namespaces that they are in.
std::string exports_of(const std::string& text) {
  static const std::regex part(R"(\bnamespace(?:\s+(\w+))?\s*\{|\{|\}|)"
                               R"(extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\()");
  const std::string code = code_of(text);
  std::vector<std::string> scopes;  // for each open brace: its namespace, or nothing
  std::string lines;
  for (std::sregex_iterator at(code.begin(), code.end(), part), end; at != end; ++at) {
    const std::smatch& match = *at;
    if (match[2].matched) {
      std::string scope;
      for (const auto& name : scopes) scope += name.empty() ? "" : name + "::";
      lines += "EMULATED_EXPORT(" + scope + ", " + match[2].str() + ")\n";
    } else if (match[0] == "}") {
      if (!scopes.empty()) scopes.pop_back();
    } else {
      scopes.push_back(match[1].str());
    }
  }
  return lines;
}

// Runs g++ without a shell and without libraries that were loaded before others: race detectors are for the driver alone.
int run_compiler(std::vector<std::string> arguments, const std::string& messages) {
  std::vector<char*> pointers, variables;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  for (char** variable = environ; *variable; ++variable)
    if (strncmp(*variable, "LD_PRELOAD=", 11) != 0) variables.push_back(*variable);
  variables.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t process;
  int status = posix_spawnp(&process, pointers[0], &actions, nullptr, pointers.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  if (status != 0) return status;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

void compile(Program& program) {
  char folder[] = "/tmp/emulated_nvrtc_XXXXXX";
  if (!mkdtemp(folder)) return;
  const std::string source = folder + std::string("/kernel.cpp"), object = folder + std::string("/kernel.so"),
                    messages = folder + std::string("/messages");
  std::ofstream(source) << "#line 1 \"kernel.cu\"\n" << program.text << "\n" << exports_of(program.text);
  std::vector<std::string> arguments{EMULATED_COMPILER};
  for (auto& flag : words(EMULATED_FLAGS)) arguments.push_back(flag);
  for (const char* more : {"-shared", "-w", "-include"}) arguments.push_back(more);
  for (const std::string& more : {own_folder() + "/device_text.h", source, std::string("-o"), object})
    arguments.push_back(more);
  const int status = run_compiler(arguments, messages);
  program.log = read_file(messages);
  if (status == 0) program.image = read_file(object);
  for (const std::string& path : {source, object, messages}) unlink(path.c_str());
  rmdir(folder);
}

}  // namespace

NVRTC_FUNCTION nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = EMULATED_VERSION;
  return success;
}

NVRTC_FUNCTION nvrtcGetNumSupportedArchs(int* count) {
  *count = 2;
  return success;
}

NVRTC_FUNCTION nvrtcGetSupportedArchs(int* architectures) {
  architectures[0] = 80;
  architectures[1] = 90;
  return success;
}

NVRTC_FUNCTION nvrtcCreateProgram(Program** program, const char* text, const char*, int, const char* const*,
                                  const char* const*) {
  *program = new Program{text, "", ""};
  return success;
}

// NVRTC says how it would round; g++ is given the flags that do the same.
NVRTC_FUNCTION nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  for (int i = 0; i < count; ++i) {
    if (options[i][0] == '-') continue;
    program->log = std::string("unrecognized option ") + options[i];
    return invalid_option;
  }
  compile(*program);
  return program->image.empty() ? compilation_failed : success;
}

NVRTC_FUNCTION nvrtcGetProgramLogSize(Program* program, size_t* bytes) {
  *bytes = program->log.size() + 1;
  return success;
}

NVRTC_FUNCTION nvrtcGetProgramLog(Program* program, char* log) {
  memcpy(log, program->log.c_str(), program->log.size() + 1);
  return success;
}

NVRTC_FUNCTION nvrtcGetCUBINSize(Program* program, size_t* bytes) {
  *bytes = program->image.size();
  return success;
}

NVRTC_FUNCTION nvrtcGetCUBIN(Program* program, char* image) {
  memcpy(image, program->image.data(), program->image.size());
  return success;
}

NVRTC_FUNCTION nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return success;
}

extern "C" __attribute__((visibility("default"))) const char* nvrtcGetErrorString(int code) {
  switch (code) {
    case success:
      return "NVRTC_SUCCESS";
    case out_of_memory:
      return "NVRTC_ERROR_OUT_OF_MEMORY";
    case invalid_input:
      return "NVRTC_ERROR_INVALID_INPUT";
    case invalid_option:
      return "NVRTC_ERROR_INVALID_OPTION";
    case compilation_failed:
      return "NVRTC_ERROR_COMPILATION";
    default:
      return "NVRTC_ERROR_UNKNOWN";
  }
}
