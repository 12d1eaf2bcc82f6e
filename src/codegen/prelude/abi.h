// The kernel ABI as text: the same declarations as codegen/kernel_abi.h.
typedef __INT64_TYPE__ i64;
typedef __INTPTR_TYPE__ iptr;

constexpr int accel_abi_version = 13;

extern "C" {
typedef int (*AccelLoop)(void* context, char* const* args, const iptr* dims, const iptr* strides, void* auxdata);
struct AccelImport {
  AccelLoop loop;
  void* context;
  void* auxdata;
};

struct AccelDraw {
  void* function;
  void* stream;
  bool quiet;
  const void* layers;
};

typedef void (*AccelRegion)(void* frame, i64 begin, i64 end);

struct AccelPoll {
  i64 last;
  i64 turns;
};

struct AccelRuntime {
  int (*parallel_for)(AccelRegion region, void* frame, i64 n, i64 grain, i64 work);
  void* (*allocate)(i64 bytes);
  void (*release)(void* memory);
  void* (*allocate_output)(void* context, int output, const i64* dims);
  int (*poll)(int leaves, AccelPoll* state);
  i64 (*serial_work)();
  int (*call)(void* context, int number, const void* const* operands, const i64* dims);
  i64 (*extent)(void* context, int number, int result, int axis);
  int (*receive)(void* context, int number, int result, void* memory, const i64* dims);
  void (*commit)();
  void* (*receive_output)(void* context, int number, int result, int output, const i64* dims);
  int (*open_draw)(void* context, int number);
  int (*blas_threads)(AccelLoop loop);
  i64 (*now)();
  int (*go_on)(void* context, int exit);
  void (*log_events)(void* context, int site, int events);
};

struct AccelLaunch {
  const AccelRuntime* runtime;
  const AccelImport* imports;
  const i64* symbols;
  void* const* inputs;
  void* const* outputs;
  void* context;
  int* exit;
  int accepted;
  int ignored;
  const AccelDraw* draws;
  unsigned char* events;
  unsigned char* heard;
  const unsigned char* forbidden;
  int site_count;
  bool once;
};

enum AccelStatus : int {
  accel_divide = 1,
  accel_overflow = 2,
  accel_underflow = 4,
  accel_invalid = 8,
  accel_error = 16,
  accel_no_memory = 32,
  accel_interrupted = 64,
  accel_left = 128,
  accel_unclear = 256,
};

typedef int (*AccelKernel)(const AccelLaunch* launch);
}
