#include "base/memory.h"

#include <unistd.h>

namespace accel {

int64_t physical_memory() {
  static const int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * int64_t{sysconf(_SC_PAGESIZE)};
  return bytes;
}

}  // namespace accel
