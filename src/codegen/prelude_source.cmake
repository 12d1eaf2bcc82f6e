# Adds the embedded prelude to accel_codegen. Included by src/CMakeLists.txt after the stage is declared.
set(prelude_folder "${CMAKE_CURRENT_SOURCE_DIR}/codegen/prelude")
set(prelude_script "${CMAKE_CURRENT_SOURCE_DIR}/codegen/prelude.cmake")
set(prelude_source "${CMAKE_CURRENT_BINARY_DIR}/codegen_prelude.cpp")
file(GLOB_RECURSE prelude_parts CONFIGURE_DEPENDS "${prelude_folder}/*.h")
add_custom_command(
  OUTPUT "${prelude_source}"
  COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${prelude_folder}" "-DOUTPUT=${prelude_source}" -P "${prelude_script}"
  DEPENDS ${prelude_parts} "${prelude_script}"
  VERBATIM)
target_sources(accel_codegen PRIVATE "${prelude_source}")
