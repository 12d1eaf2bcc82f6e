#pragma once
// Target: what a graph is compiled for, and what compiled code can do there.

#include <cstdint>

namespace accel {

enum class TargetKind : uint8_t { cpu, cuda };

struct Target {
  TargetKind kind = TargetKind::cpu;
  bool contracts_products = true;  // NumPy's loops for complex numbers use fused multiply-add

  // Whether compiled code may call NumPy's inner loops. Without them each operation is computed by the text of its op's row.
  bool has_numpy_loops() const { return kind == TargetKind::cpu; }
  // Whether loops run over tiles of elements that stay in a cache. Without tiles each element is computed by itself.
  bool has_tiles() const { return kind == TargetKind::cpu; }
  // Whether kernels run on a device with memory and threads of its own: nests have a mapping.
  bool is_device() const { return kind == TargetKind::cuda; }
  // Whether the hardware records floating-point events.
  bool has_float_events() const { return kind == TargetKind::cpu; }
};

}  // namespace accel
