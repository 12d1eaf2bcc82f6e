# Parts "abi" and "device_abi" of the prelude: writes OUTPUT, the declarations of kernel_abi.h or device_abi.h (HEADER), in
# words that kernels have without includes. Runs at build time: cmake -DHEADER=<kernel_abi.h> -DOUTPUT=<file> -P abi.cmake
file(READ "${HEADER}" text)
get_filename_component(name "${HEADER}" NAME)
string(FIND "${text}" "constexpr int accel_" begin)
string(FIND "${text}" "}  // extern \"C\"" end)
if(begin LESS 0 OR end LESS begin)
  message(FATAL_ERROR "${HEADER} has no declarations of the ABI")
endif()
math(EXPR length "${end} - ${begin}")
string(SUBSTRING "${text}" ${begin} ${length} text)
string(REGEX REPLACE "\n *//[^\n]*" "" text "${text}")  # lines that are comments
string(REGEX REPLACE " *//[^\n]*" "" text "${text}")
string(REPLACE "int64_t" "i64" text "${text}")
string(REPLACE "intptr_t" "iptr" text "${text}")
file(WRITE "${OUTPUT}" "// The kernel ABI as text: the same declarations as codegen/${name}.
typedef __INT64_TYPE__ i64;
typedef __INTPTR_TYPE__ iptr;

${text}}
")
