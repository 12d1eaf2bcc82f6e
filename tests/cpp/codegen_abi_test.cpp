// The kernel ABI in the words of the prelude (abi.cmake) agrees with codegen/kernel_abi.h.

#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "codegen/kernel_abi.h"

namespace text {
#include "codegen/prelude/abi.h"
}  // namespace text

namespace accel {

namespace {

#define SAME_MEMBER(type, member)                                        \
  static_assert(offsetof(type, member) == offsetof(text::type, member)); \
  static_assert(sizeof(type::member) == sizeof(text::type::member))

static_assert(sizeof(AccelImport) == sizeof(text::AccelImport));
SAME_MEMBER(AccelImport, loop);
SAME_MEMBER(AccelImport, context);
SAME_MEMBER(AccelImport, auxdata);

static_assert(sizeof(AccelRuntime) == sizeof(text::AccelRuntime));
SAME_MEMBER(AccelRuntime, parallel_for);
SAME_MEMBER(AccelRuntime, allocate);
SAME_MEMBER(AccelRuntime, release);
SAME_MEMBER(AccelRuntime, call);
SAME_MEMBER(AccelRuntime, extent);
SAME_MEMBER(AccelRuntime, receive);
SAME_MEMBER(AccelRuntime, commit);
SAME_MEMBER(AccelRuntime, receive_output);
SAME_MEMBER(AccelRuntime, open_draw);

static_assert(sizeof(AccelDraw) == sizeof(text::AccelDraw));
SAME_MEMBER(AccelDraw, function);
SAME_MEMBER(AccelDraw, stream);
SAME_MEMBER(AccelDraw, quiet);
SAME_MEMBER(AccelDraw, layers);

static_assert(sizeof(AccelLaunch) == sizeof(text::AccelLaunch));
SAME_MEMBER(AccelLaunch, runtime);
SAME_MEMBER(AccelLaunch, imports);
SAME_MEMBER(AccelLaunch, symbols);
SAME_MEMBER(AccelLaunch, inputs);
SAME_MEMBER(AccelLaunch, outputs);
SAME_MEMBER(AccelLaunch, accepted);
SAME_MEMBER(AccelLaunch, ignored);
SAME_MEMBER(AccelLaunch, draws);

// Function types and the types of data members that name none of the structs.
static_assert(std::is_same_v<AccelLoop, text::AccelLoop>);
static_assert(std::is_same_v<AccelRegion, text::AccelRegion>);
static_assert(std::is_same_v<decltype(AccelRuntime::allocate), decltype(text::AccelRuntime::allocate)>);
static_assert(std::is_same_v<decltype(AccelRuntime::blas_threads), decltype(text::AccelRuntime::blas_threads)>);
static_assert(std::is_same_v<decltype(AccelRuntime::parallel_for), decltype(text::AccelRuntime::parallel_for)>);
static_assert(std::is_same_v<decltype(AccelLaunch::symbols), decltype(text::AccelLaunch::symbols)>);
static_assert(std::is_same_v<decltype(AccelLaunch::inputs), decltype(text::AccelLaunch::inputs)>);

TEST(KernelAbi, StatusBitsAndVersionAgree) {
  EXPECT_EQ(accel_abi_version, text::accel_abi_version);
  EXPECT_EQ(int{accel_divide}, int{text::accel_divide});
  EXPECT_EQ(int{accel_overflow}, int{text::accel_overflow});
  EXPECT_EQ(int{accel_underflow}, int{text::accel_underflow});
  EXPECT_EQ(int{accel_invalid}, int{text::accel_invalid});
  EXPECT_EQ(int{accel_error}, int{text::accel_error});
  EXPECT_EQ(int{accel_no_memory}, int{text::accel_no_memory});
  EXPECT_EQ(int{accel_interrupted}, int{text::accel_interrupted});
}

}  // namespace

}  // namespace accel
