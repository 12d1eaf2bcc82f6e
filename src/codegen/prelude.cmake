# Embeds codegen/prelude/**/*.h and the parts that abi.cmake writes: writes OUTPUT, which defines prelude_part (prelude.h) over
# raw string literals. Runs at build time:
# cmake -DFOLDER=<prelude folder> -DABI=<abi.h;device_abi.h> -DOUTPUT=<file> -P prelude.cmake
file(GLOB_RECURSE parts "${FOLDER}/*.h")
list(APPEND parts ${ABI})
set(rows "")
foreach(part IN LISTS parts)
  get_filename_component(name "${part}" NAME_WE)
  file(READ "${part}" text)
  string(APPEND rows "    {\"${name}\", R\"prelude(${text})prelude\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"codegen/prelude.h\"

namespace accel {

namespace {
struct Part {
  std::string_view name, text;
};
const Part parts[] = {
${rows}};
}  // namespace

std::string_view prelude_part(std::string_view name) {
  for (const Part& part : parts) {
    if (part.name == name) return part.text;
  }
  return {};
}

}  // namespace accel
")
