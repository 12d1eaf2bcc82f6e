#pragma once
// The C ABI between a compiled kernel and the process that calls it. Part "abi" of the prelude is made from this header
// (abi.cmake): from `accel_abi_version`, which every change increments, to the end of `extern "C"`, without comments, with i64
// and iptr for int64_t and intptr_t. Nothing in between may need an include.

#include <cstdint>

namespace accel {

constexpr int accel_abi_version = 13;

extern "C" {
// NumPy's inner loop and its auxiliary data.
typedef int (*AccelLoop)(void* context, char* const* args, const intptr_t* dims, const intptr_t* strides, void* auxdata);
struct AccelImport {
  AccelLoop loop;  // NumPy's PyArrayMethod_StridedLoop
  void* context;
  void* auxdata;
};

// A C function of NumPy's that draws a number: `function(stream, operands...)`. stream: null unless the kernel may call it now.
struct AccelDraw {
  void* function;
  void* stream;
  bool quiet;          // whether it leaves the floating-point flags as they are
  const void* layers;  // of normal numbers, that the kernel may draw by itself (prelude part "flow"); else null
};

// One chunk [begin, end) of a parallel region. Runs on any thread; must not touch Python.
typedef void (*AccelRegion)(void* frame, int64_t begin, int64_t end);

// State of the polls of a run for interruption. Zero at first.
struct AccelPoll {
  int64_t last;   // nanoseconds, of a coarse clock
  int64_t turns;  // turns of a loop until the next poll
};

// Services of the runtime. `frame` arguments are the kernel's own.
struct AccelRuntime {
  // Runs region over [0, n) in chunks that are multiples of `grain` (the last may be shorter), on several threads when work
  // (element operations) is above the threshold; a negative grain: each thread takes its chunks from the last to the first.
  // Returns 0, or 1 when the run was interrupted (Ctrl-C).
  int (*parallel_for)(AccelRegion region, void* frame, int64_t n, int64_t grain, int64_t work);
  // Uninitialised memory, 64-byte aligned, or null. Freed with release.
  void* (*allocate)(int64_t bytes);
  void (*release)(void* memory);
  // Memory for a result whose pointer in AccelLaunch::outputs is null, or null. `output` counts through the outputs of all
  // exits (ir/analysis/flow.h); dims: its shape. Only kernels with control flow call it, at most once per output, from the
  // calling thread. May be null.
  void* (*allocate_output)(void* context, int output, const int64_t* dims);
  // Whether the run is to be interrupted (Ctrl-C); polled by loops of the control flow. `leaves`: 1 when it can leave through
  // an exit that raises, 2 when through one that hands its whole state over and the run may go on from there, 3 when through
  // one that hands its whole state over and ends the run; else it can only fail. May be null.
  int (*poll)(int leaves, AccelPoll* state);
  // Loops with less work (element operations) than this are not worth a call of parallel_for. Called once per launch; may be
  // null: all loops use parallel_for.
  int64_t (*serial_work)();
  // Calls that the caller makes for kernels with control flow, from the calling thread; may be null where a kernel has none.
  // Function `number` of the caller's table gets `operands`, pointers to elements or scalars; `dims` holds the shapes of its
  // array operands, one after the other, then their strides in bytes. Returns 0, or status bits (AccelStatus). Other functions
  // than those that can be called again get memory as it stands, and the launch puts nothing back that it has written before.
  int (*call)(void* context, int number, const void* const* operands, const int64_t* dims);
  // Extent of an axis of a result of the last call of function `number`.
  int64_t (*extent)(void* context, int number, int result, int axis);
  // Copies such a result, an array of shape `dims` or a scalar, to `memory`, dense. Returns 0 or status bits.
  int (*receive)(void* context, int number, int result, void* memory, const int64_t* dims);
  // The launch has begun to write to memory that it will not restore: from now on services may report an interruption only to
  // loops that can leave through an exit. Called on the calling thread; may be null.
  void (*commit)();
  // The memory of output `output`, which has become that result; null, a failure, when it could not.
  void* (*receive_output)(void* context, int number, int result, int output, const int64_t* dims);
  // Makes AccelLaunch::draws[number] ready, if it can; else the kernel uses `call`. Returns 0 or status bits.
  int (*open_draw)(void* context, int number);
  // The number of threads that the BLAS which one of NumPy's loops calls uses for large products; 0: it is unknown,
  // parallel_for has fewer, or it is one. May be null.
  int (*blas_threads)(AccelLoop loop);
  // Nanoseconds of a coarse clock. May be null.
  int64_t (*now)();
  // Called after a poll that asked the run to leave, when all outputs of the exit are written: whether the run continues all
  // the same. May be null.
  int (*go_on)(void* context, int exit);
  // For kernels that record events: site `site` has had `events` since the last call for it. Called in the order of the run, on
  // the calling thread.
  void (*log_events)(void* context, int site, int events);
};

// What one launch gets.
struct AccelLaunch {
  const AccelRuntime* runtime;
  const AccelImport* imports;
  const int64_t* symbols;  // entry symbols; scalar inputs as bits
  void* const* inputs;     // data pointers of array inputs
  void* const* outputs;    // data pointers of outputs; null: the kernel asks allocate_output for them
  void* context;           // for allocate_output
  int* exit;               // gets the number of the exit taken; may be null (a kernel without control flow always takes exit 0)
  int accepted;            // floating-point events (AccelStatus) that are no failure for the caller
  int ignored;             // those among them that are not reported: a kernel need not detect them
  const AccelDraw* draws;  // by number of the caller's function; services may change them; null where a kernel draws nothing
  // Kernels that record events (emit_cpp) alone; by site, with one more byte at the end of `events`:
  unsigned char* events;           // what a site has had that is not logged yet; the last byte: whether there is any. All 0
  unsigned char* heard;            // events that are of interest
  const unsigned char* forbidden;  // events that end the run with accel_unclear
  int site_count;
  bool once;  // only the first occurrence of each event of a site is of interest
};

// Status bits a kernel returns. With anything but 0 the outputs are garbage and the caller lets the interpreter run instead. A
// kernel with control flow stops at a bit that is not in AccelLaunch::accepted, and has then restored what it wrote to its
// inputs; with accepted bits alone it has run to its end.
enum AccelStatus : int {
  accel_divide = 1,  // floating-point events seen (bits as NumPy's FPE_*)
  accel_overflow = 2,
  accel_underflow = 4,
  accel_invalid = 8,
  accel_error = 16,  // something NumPy raises for (integer to a negative power, ...)
  accel_no_memory = 32,
  accel_interrupted = 64,
  accel_left = 128,     // a call has been made, and the caller resumes after it: nothing before it is restored
  accel_unclear = 256,  // an event that cannot be reported after the run
};

// Events alone do not make outputs garbage: the caller decides by errstate.
typedef int (*AccelKernel)(const AccelLaunch* launch);
}  // extern "C"

}  // namespace accel
