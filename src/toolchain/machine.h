#pragma once
// What accel needs to know about the machine.

#include <cstdint>
#include <string>

namespace accel {

// Model and instruction set, as `-march=native` finds them; equal on equal machines. Computed once.
const std::string& cpu_identity();
// "AMD EPYC 9354 32-Core Processor".
const std::string& cpu_model();
// The vector extensions in use, "avx2 fma avx512f".
const std::string& cpu_features();

// CPUs the calling thread may use now: affinity, and the quota of the container it was started in.
int available_cpus();

// Bytes of memory of the machine, or the container's limit when that is less.
int64_t memory_bytes();

}  // namespace accel
