#include "codegen/emit/functions/nest_texts.h"

#include <algorithm>

#include "codegen/emit/functions/kernel_function.h"

namespace accel {

namespace {

// Nests with as many regions may have equal ones.
constexpr int least_shared_regions = 3;

}  // namespace

Result<NestFunctions> NestTexts::add_copy(Code& out, Copy& copy) {
  if (copies_ == 0) {
    ACCEL_TRY([[maybe_unused]] Unit found, find_shared(copy));
  }
  NestFunctions functions;
  for (size_t k = 0; k < program_.nests.size(); ++k) {
    ACCEL_TRY(functions.emplace_back(), functions_of(out, k, copy));
  }
  ++copies_;
  return functions;
}

// Nests whose functions differ in names only get those of the first one.
Status NestTexts::find_shared(Copy& copy) {
  std::map<std::string, std::vector<size_t>> equal;
  std::map<size_t, SharedText> texts;
  for (size_t k = 0; k < program_.nests.size(); ++k) {
    if (is_inlined(program_.nests[k])) continue;
    GivenDims given;
    KernelFunction function(copy, program_.nests[k], "$", &given, &given);
    SharedText shared;
    ACCEL_TRY(shared.text, function.write_nest());
    if (!given.is_complete) continue;
    shared.function = {{}, function.body_buffers(), {}, true, {}};
    for (Dim d : given.dims) shared.function.dims.push_back(copy.dims.text(d));
    equal[with_numbered_names(shared.text)].push_back(k);
    texts.emplace(k, std::move(shared));
  }
  for (const auto& [text, nests] : equal) {
    for (size_t k : nests) {
      if (nests.size() < 2) continue;
      SharedText& shared = texts.at(k);
      shared.function.name = cat("nest", static_cast<long>(nests[0]));
      ACCEL_TRY(shared.plain, KernelFunction(copy, program_.nests[k], "$").write_nest());
      shared_.emplace(k, std::move(shared));
    }
  }
  return Unit{};
}

// The nest's functions in a copy: those of its variants, and the one that fits always.
Result<std::vector<NestFunction>> NestTexts::functions_of(Code& out, size_t k, Copy& copy) {
  std::vector<NestFunction> functions;
  ACCEL_TRY(NestFunction general, function_of(out, k, copy, copies_));
  for (size_t v = 0; v < program_.variants.size(); ++v) {
    const Variant& variant = program_.variants[v];
    if (std::count(variant.nests.begin(), variant.nests.end(), static_cast<int>(k)) == 0) continue;
    Copy fixed = copy;
    fixed.fixed.insert(variant.fixed.begin(), variant.fixed.end());
    ACCEL_TRY(NestFunction function, function_of(out, k, fixed, static_cast<int>(v) + 1));
    function.fixed = variant.fixed;
    if (function.name != general.name) functions.push_back(std::move(function));
  }
  functions.push_back(std::move(general));
  return functions;
}

// Number 0: the copy without fixed symbols.
Result<NestFunction> NestTexts::function_of(Code& out, size_t k, Copy& copy, int number) {
  std::string base = cat("nest", static_cast<long>(k));
  KernelFunction function(copy, program_.nests[k], "$");
  ACCEL_TRY(std::string text, function.write_nest());
  if (auto shared = shared_.find(k); shared != shared_.end() && shared->second.plain == text) {
    const NestFunction& first = shared->second.function;
    if (first.name == base && names_.emplace(base, base).second) add(out, k, shared->second.text, base);
    return first;
  }
  if (function.region_count() >= least_shared_regions) {
    GivenDims given;
    ACCEL_TRY(std::string shorter, KernelFunction(copy, program_.nests[k], "$", nullptr, &given).write_nest());
    if (given.is_complete && shorter.size() < text.size()) text = std::move(shorter);
  }
  std::string name = number == 0 ? base : cat(base, "_v", number);
  auto [found, is_new] = names_.emplace(cat(base, ":", text), name);
  if (is_new) add(out, k, text, name);
  return NestFunction{found->second, function.body_buffers(), {}, false, {}};
}

void NestTexts::add(Code& out, size_t k, std::string text, const std::string& name) {
  for (size_t at = text.find('$'); at != text.npos; at = text.find('$', at + name.size())) text.replace(at, 1, name);
  if (!program_.nests[k].name.empty()) out.line(cat("// ", program_.nests[k].name));
  out.raw(text);
}

}  // namespace accel
