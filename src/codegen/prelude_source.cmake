# Adds the embedded prelude to accel_codegen. Included by src/CMakeLists.txt after the stage is declared.
set(prelude_folder "${CMAKE_CURRENT_SOURCE_DIR}/codegen/prelude")
set(prelude_script "${CMAKE_CURRENT_SOURCE_DIR}/codegen/prelude.cmake")
set(prelude_source "${CMAKE_CURRENT_BINARY_DIR}/codegen_prelude.cpp")
set(abi_script "${CMAKE_CURRENT_SOURCE_DIR}/codegen/abi.cmake")
file(GLOB_RECURSE prelude_parts CONFIGURE_DEPENDS "${prelude_folder}/*.h")
set(abi_parts "")
foreach(part_and_header "abi:kernel_abi" "device_abi:device_abi")
  string(REPLACE ":" ";" names "${part_and_header}")
  list(GET names 0 part)
  list(GET names 1 header)
  set(part_file "${CMAKE_CURRENT_BINARY_DIR}/codegen/prelude/${part}.h")
  set(header_file "${CMAKE_CURRENT_SOURCE_DIR}/codegen/${header}.h")
  add_custom_command(
    OUTPUT "${part_file}"
    COMMAND "${CMAKE_COMMAND}" "-DHEADER=${header_file}" "-DOUTPUT=${part_file}" -P "${abi_script}"
    DEPENDS "${header_file}" "${abi_script}"
    VERBATIM)
  list(APPEND abi_parts "${part_file}")
endforeach()
add_custom_command(
  OUTPUT "${prelude_source}"
  COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${prelude_folder}" "-DABI=${abi_parts}" "-DOUTPUT=${prelude_source}" -P "${prelude_script}"
  DEPENDS ${prelude_parts} ${abi_parts} "${prelude_script}"
  VERBATIM)
target_sources(accel_codegen PRIVATE "${prelude_source}" ${abi_parts})
