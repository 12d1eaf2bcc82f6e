// Modules: shared objects that the emulated NVRTC has made, loaded from their bytes.

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "emulator.h"

namespace emulated {

struct Module {
  void* library;
  unsigned char* (*dynamic)();
  ThreadState* (*state)();
  ElfW(Addr) load;
};

void call_barrier();
const unsigned long long* call_warp(unsigned mask, unsigned long long value, bool is_fence);

namespace {

const DeviceCalls device_calls{call_barrier, call_warp};

template <class F>
F symbol(void* library, const char* name) {
  return reinterpret_cast<F>(dlsym(library, name));
}

// The dynamic loader opens files alone.
void* open_image(const char* image, size_t bytes) {
  char path[] = "/tmp/emulated_XXXXXX";
  int file = mkstemp(path);
  bool is_written = write(file, image, bytes) == static_cast<ssize_t>(bytes);
  close(file);
  void* library = is_written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!emulator().options.keep) unlink(path);
  return library;
}

}  // namespace

int load_module(Module** module, const char* image) {
  auto header = reinterpret_cast<const ElfW(Ehdr)*>(image);
  if (memcmp(image, ELFMAG, SELFMAG) != 0) return say(invalid_image, "the image is no ELF file");
  if (header->e_machine != EM_X86_64) return say(no_binary_for_device, "the image is not of the emulated NVRTC");
  void* library = open_image(image, header->e_shoff + header->e_shnum * header->e_shentsize);
  if (!library) return say(invalid_image, dlerror());
  auto bind = symbol<void (*)(const DeviceCalls*)>(library, "emulated_bind");
  if (!bind) return say(invalid_image, "the image is not of the emulated NVRTC");
  bind(&device_calls);
  link_map* map = nullptr;
  dlinfo(library, RTLD_DI_LINKMAP, &map);
  *module = new Module{library, symbol<unsigned char* (*)()>(library, "emulated_dynamic"),
                       symbol<ThreadState* (*)()>(library, "emulated_state"), map->l_addr};
  return success;
}

void unload_module(Module* module) {
  dlclose(module->library);
  delete module;
}

int find_function(Function** function, Module* module, const char* name) {
  auto kernel = symbol<const Kernel*>(module->library, (std::string("emulated_kernel_") + name).c_str());
  if (!kernel) return say(not_found, std::string("no kernel ") + name);
  *function = new Function{module, kernel};
  return success;
}

unsigned char* dynamic_memory_of(Module* module) { return module->dynamic(); }
ThreadState* state_of(Module* module) { return module->state(); }

SharedMemory shared_memory_of(Module* module) {
  struct Search {
    ElfW(Addr) load;
    SharedMemory found;
  } search{module->load, {}};
  module->state();  // the thread's copy of the module's variables is made when they are first used
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* s = static_cast<Search*>(data);
        if (info->dlpi_addr != s->load) return 0;
        s->found.data = static_cast<char*>(info->dlpi_tls_data);
        for (int i = 0; i < info->dlpi_phnum; ++i)
          if (info->dlpi_phdr[i].p_type == PT_TLS) s->found.bytes = info->dlpi_phdr[i].p_memsz;
        return 1;
      },
      &search);
  return search.found;
}

}  // namespace emulated
