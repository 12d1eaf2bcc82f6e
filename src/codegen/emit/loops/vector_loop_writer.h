#pragma once
// VectorLoopWriter: repeated loops over lanes in vectors (prelude part "vectors"). The state of a group of lanes stays in
// registers until all lanes have ended. Lanes that have ended are in no mask. Where squares have decided comparisons of a
// modulus, the exact masks are computed for lanes that have ended; if one of these is still active, plain loops run the group
// again from the state that is still in scratch.

#include "codegen/analysis/loops/vector_loop.h"
#include "codegen/emit/writer.h"

namespace accel {

class VectorLoopWriter : public Writer {
 public:
  VectorLoopWriter(Emission& emission, const Stmt& repeat, const VectorLoop& loop)
      : Writer(emission), repeat_(repeat), loop_(loop) {}

  void write_loop();

 private:
  void repeat_in_vectors();
  void open_vectors();
  void load_vectors();
  void write_limits();
  void iterate_vectors();
  void write_iteration();
  void check_ended_lanes();
  void begin_events();
  void include_in_events();
  void settle_events();
  void store_vectors();
  void store_assigned(const VectorLoop::Assigned& assigned);
  void write_sources(const std::vector<TempId>& temps);

  const Stmt& repeat_;
  const VectorLoop& loop_;
};

}  // namespace accel
