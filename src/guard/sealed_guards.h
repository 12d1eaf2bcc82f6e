#pragma once
// SealedGuards: the guards of a set made ready for testing. Sources that cannot change unless a dict or a type does, whose
// version is watched, are read and tested again only after such a change. Private to this folder.

#include <Python.h>

#include <cstdint>
#include <vector>

#include "cpython/py_ref.h"
#include "guard/dim_program.h"
#include "guard/guard_set.h"
#include "guard/guard_step.h"
#include "guard/guard_test.h"

namespace accel {

struct RelationTest {
  DimProgram left, right;
  Comparison comparison;
};

// A local, read before all other sources, and the type that one of its guards requires (null: any).
struct Argument {
  SourceId source;
  int index;
  PyTypeObject* type;
};

struct DictWatch {
  const uint64_t* version;
  uint64_t seen;
  PyRef dict;  // that has the version
};

struct TypeWatch {
  PyTypeObject* type;
  uint32_t seen;  // 0: none
};

// A part of a known Python function (its code, its defaults, ...) that must still be the expected object.
struct FunctionPartTest {
  PyObject* const* part;  // null or None: there is none
  PyObject* expected;
};

// Everything that is tested, in the order of the tests. Pointers to Python objects are borrowed from the GuardSet.
struct SealedGuards {
  std::vector<Argument> arguments;
  std::vector<GuardStep> argument_steps;  // about locals alone
  std::vector<RelationTest> argument_relations;
  std::vector<DictWatch> dicts;  // what the lasting sources depend on
  std::vector<TypeWatch> types;
  std::vector<GuardStep> lasting_steps;   // reads and tests that stay valid until a watched dict or type changes
  std::vector<SourceId> cached;           // lasting sources that changing steps or the caller need ...
  std::vector<PyObject*> cached_objects;  // ... and their objects, as of the last test
  std::vector<FunctionPartTest> function_parts;
  std::vector<GuardStep> changing_steps;
  std::vector<RelationTest> relations;
  std::vector<ArrayTest> arrays;
  bool tested_once = false;

  // Whether every guard holds; fills `binding`.
  bool check(const std::vector<Source>& sources, PyObject* function, PyObject* const* locals, Binding& binding) noexcept;
};

// Sorts the sources and guards of a set into their steps, and subscribes to versions of dicts.
SealedGuards seal_guards(const GuardSet& set);

}  // namespace accel
