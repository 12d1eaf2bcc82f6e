#include "toolchain/host/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "toolchain/compiled_kernel.h"
#include "toolchain/files.h"
#include "toolchain/host/cpu_limit.h"
#include "toolchain/toolchain.h"

extern char** environ;

namespace accel {
namespace {

constexpr size_t output_limit = 64 << 10;

std::atomic<void (*)()> wait_observer{nullptr};

std::atomic<bool (*)()> process_poll{nullptr};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const auto& text : strings) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> changed_environment(const std::vector<std::string>& changes) {
  auto replaced = [&](const char* variable) {
    return std::any_of(changes.begin(), changes.end(), [&](const std::string& change) {
      return std::strncmp(variable, change.c_str(), change.find('=') + 1) == 0;
    });
  };
  std::vector<std::string> result = changes;
  for (char** variable = environ; variable && *variable; variable++)
    if (!replaced(*variable)) result.emplace_back(*variable);
  return result;
}

// Own process group, so that a time limit reaches the compiler's children and Ctrl-C of the terminal does not.
void set_attributes(posix_spawnattr_t* attributes) {
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (int signal : {SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD, SIGHUP}) sigaddset(&defaults, signal);
  posix_spawnattr_setpgroup(attributes, 0);
  posix_spawnattr_setsigmask(attributes, &none);
  posix_spawnattr_setsigdefault(attributes, &defaults);
  posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

int spawn(pid_t* pid, const std::vector<std::string>& command, const std::vector<std::string>& environment, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (int error = posix_spawn_file_actions_init(&actions)) return error;
  posix_spawnattr_init(&attributes);
  set_attributes(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
#endif
#endif
  auto arguments = pointers(command), variables = pointers(environment);
  int error = posix_spawn(pid, arguments[0], &actions, &attributes, arguments.data(), variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Takes what can be read now. Returns false at the end of the output.
bool drain(int fd, std::string& output) {
  char buffer[4096];
  for (;;) {
    ssize_t count = read(fd, buffer, sizeof buffer);
    if (count == 0) return false;
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    output.append(buffer, std::min(static_cast<size_t>(count), output_limit - std::min(output.size(), output_limit)));
  }
}

// Returns true when the process is over.
bool collect(pid_t pid, ProcessResult& result) {
  int status = 0;
  pid_t answer = waitpid(pid, &status, WNOHANG);
  if (answer == 0 || (answer < 0 && errno == EINTR)) return false;
  if (answer < 0) {
    result.end = ProcessEnd::unknown;
  } else if (WIFSIGNALED(status)) {
    result.end = ProcessEnd::signaled;
    result.code = WTERMSIG(status);
  } else {
    result.end = ProcessEnd::exited;
    result.code = WEXITSTATUS(status);
  }
  return true;
}

void stop(pid_t pid) {
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// The output usually ends a moment before the process does; until then poll() wakes this thread, afterwards a short sleep.
void wait_for(pid_t pid, int fd, CpuLimit limit, ProcessResult& result) {
  bool open = true;
  int pause_us = 50;
  while (!collect(pid, result)) {
    if (void (*observe)() = wait_observer.load(std::memory_order_relaxed)) observe();
    bool late = limit.is_over();
    if (late || is_interrupted()) {
      stop(pid);
      result.end = late ? ProcessEnd::timed_out : ProcessEnd::interrupted;
      break;
    }
    if (open) {
      pollfd item{fd, POLLIN, 0};
      poll(&item, 1, 50);
      open = drain(fd, result.output);
    } else {
      usleep(static_cast<useconds_t>(pause_us));
      pause_us = std::min(pause_us * 2, 10000);
    }
  }
  drain(fd, result.output);
}

}  // namespace

void set_wait_observer(void (*observe)()) { wait_observer = observe; }

void set_process_poll(bool (*poll)()) { process_poll = poll; }

bool is_interrupted() {
  bool (*poll)() = process_poll.load(std::memory_order_relaxed);
  return poll != nullptr && poll();
}

ProcessResult run_process(const std::vector<std::string>& command, const std::vector<std::string>& changes, double timeout) {
  ProcessResult result;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    result.code = errno;
    return result;
  }
  FileDescriptor reader(ends[0]), writer(ends[1]);
  fcntl(reader.get(), F_SETFL, O_NONBLOCK);
  pid_t pid = 0;
  result.code = spawn(&pid, command, changed_environment(changes), writer.get());
  if (result.code != 0) return result;
  writer.close();
  wait_for(pid, reader.get(), CpuLimit(pid, timeout), result);
  return result;
}

}  // namespace accel
