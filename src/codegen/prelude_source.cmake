# Adds the embedded prelude to accel_codegen. Included by src/CMakeLists.txt after the stage is declared.
set(prelude_folder "${CMAKE_CURRENT_SOURCE_DIR}/codegen/prelude")
set(prelude_script "${CMAKE_CURRENT_SOURCE_DIR}/codegen/prelude.cmake")
set(prelude_source "${CMAKE_CURRENT_BINARY_DIR}/codegen_prelude.cpp")
set(abi_header "${CMAKE_CURRENT_SOURCE_DIR}/codegen/kernel_abi.h")
set(abi_script "${CMAKE_CURRENT_SOURCE_DIR}/codegen/abi.cmake")
set(abi_part "${CMAKE_CURRENT_BINARY_DIR}/codegen/prelude/abi.h")
file(GLOB_RECURSE prelude_parts CONFIGURE_DEPENDS "${prelude_folder}/*.h")
add_custom_command(
  OUTPUT "${abi_part}"
  COMMAND "${CMAKE_COMMAND}" "-DHEADER=${abi_header}" "-DOUTPUT=${abi_part}" -P "${abi_script}"
  DEPENDS "${abi_header}" "${abi_script}"
  VERBATIM)
add_custom_command(
  OUTPUT "${prelude_source}"
  COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${prelude_folder}" "-DABI=${abi_part}" "-DOUTPUT=${prelude_source}" -P "${prelude_script}"
  DEPENDS ${prelude_parts} "${abi_part}" "${prelude_script}"
  VERBATIM)
target_sources(accel_codegen PRIVATE "${prelude_source}" "${abi_part}")
