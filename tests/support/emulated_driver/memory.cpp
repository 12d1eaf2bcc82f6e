// Memory of the host and of the device, between guards.

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "emulator.h"

namespace emulated {
namespace {

constexpr size_t page = 4096, guard = 64 << 10, unit = 256, most_freed = 512;
constexpr unsigned char redzone_byte = 0xFD, fresh_byte = 0xCB;

std::map<char*, Allocation> memory;
std::deque<char*> freed;  // their addresses are not given out again before many others
size_t used_bytes = 0;
int works_depth = 0;

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

void protect(const Allocation& a, bool is_open) {
  mprotect(a.base + guard, a.span - 2 * guard, is_open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void protect_device_memory(bool is_open) {
  for (auto& [address, a] : memory)
    if (!a.is_host && !a.is_freed) protect(a, is_open);
}

int check_redzone(char* begin, char* end, const Allocation& a, const std::string& who) {
  for (char* c = begin; c < end; ++c) {
    if (static_cast<unsigned char>(*c) == redzone_byte) continue;
    memset(c, redzone_byte, end - c);
    return say(illegal_address, who + ": wrote at offset " + std::to_string(c - a.data) + " of an allocation of " +
                                    std::to_string(a.bytes) + " bytes");
  }
  return success;
}

}  // namespace

void begin_device_work() {
  if (works_depth++ == 0 && emulator().options.hide) protect_device_memory(true);
}

void end_device_work() {
  if (--works_depth == 0 && emulator().options.hide) protect_device_memory(false);
}

void hide_device_memory(bool hide) { protect_device_memory(!hide); }

size_t allocated_bytes() { return used_bytes; }

int allocate(char** out, size_t bytes, bool is_host) {
  if (bytes == 0) return say(invalid_value, "an allocation of 0 bytes");
  long limit = emulator().options.limit ? emulator().options.limit : 1l << 36;
  if (!is_host && used_bytes + bytes > static_cast<size_t>(limit)) return say(out_of_memory, "the emulated memory is full");
  DeviceWorks works;
  Allocation a{};
  a.bytes = bytes;
  a.is_host = is_host;
  a.room = round_up(bytes, unit);
  a.span = round_up(a.room, page) + 2 * guard;
  a.base = static_cast<char*>(mmap(nullptr, a.span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (a.base == MAP_FAILED) return say(out_of_memory, "the host has no memory");
  protect(a, true);
  a.data = a.base + a.span - guard - a.room;
  memset(a.base + guard, redzone_byte, a.data - a.base - guard);
  memset(a.data, fresh_byte, bytes);
  memset(a.data + bytes, redzone_byte, a.room - bytes);
  if (!is_host) used_bytes += bytes;
  memory[*out = a.data] = a;
  return success;
}

int check_redzones(const std::string& who) {
  for (auto& [address, a] : memory) {
    if (a.is_freed) continue;
    if (int code = check_redzone(a.base + guard, a.data, a, who)) return code;
    if (int code = check_redzone(a.data + a.bytes, a.data + a.room, a, who)) return code;
  }
  return success;
}

int free_memory(char* address) {
  auto at = memory.find(address);
  if (at == memory.end() || at->second.is_freed) return say(invalid_value, "free of what is not allocated");
  Allocation& a = at->second;
  int code;
  {
    DeviceWorks works;
    code = check_redzones("free");
  }
  a.is_freed = true;
  protect(a, false);
  madvise(a.base, a.span, MADV_DONTNEED);
  if (!a.is_host) used_bytes -= a.bytes;
  freed.push_back(address);
  if (freed.size() > most_freed) {
    auto oldest = memory.find(freed.front());
    munmap(oldest->second.base, oldest->second.span);
    memory.erase(oldest);
    freed.pop_front();
  }
  return code;
}

const Allocation* find_allocation(const void* address) {
  auto at = memory.upper_bound(const_cast<char*>(static_cast<const char*>(address)));
  if (at == memory.begin()) return nullptr;
  const Allocation& a = (--at)->second;
  return static_cast<const char*>(address) < a.data + a.bytes ? &a : nullptr;
}

bool is_device_range(const void* address, size_t bytes) {
  const Allocation* a = find_allocation(address);
  return a && !a->is_freed && static_cast<const char*>(address) + bytes <= a->data + a->bytes;
}

std::string describe_address(const char* address) {
  auto next = memory.upper_bound(const_cast<char*>(address));
  if (next == memory.begin()) return "an address that is not device memory";
  const Allocation& a = std::prev(next)->second;
  if (address > a.base + a.span && next != memory.end() && address >= next->second.base)
    return std::to_string(next->second.data - address) + " bytes before an allocation of " + std::to_string(next->second.bytes);
  return "offset " + std::to_string(address - a.data) + " of " + (a.is_freed ? "a freed" : "an") + " allocation of " +
         std::to_string(a.bytes) + " bytes";
}

}  // namespace emulated
