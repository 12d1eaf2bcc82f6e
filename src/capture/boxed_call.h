#pragma once
// BoxedCall: a call of a Python callable that compiled code asks the process to make. Product of capture.

#include <vector>

#include "cpython/py_ref.h"
#include "guard/guard_set.h"
#include "ir/graph.h"

namespace accel {

// How one argument is made.
struct CallPart {
  enum class Kind : uint8_t { constant, source, operand, tuple, list } kind = Kind::constant;
  PyRef object;          // constant
  SourceId source = -1;  // the object at a source
  int operand = -1;      // an operand of the op: an array over the kernel's memory, or a number
  std::vector<CallPart> items;
};

// numpy.errstate as the captured code has set it: the events (bits of NumPy's FPE flags) that it ignores, and that it does not.
// The others are the caller's business.
struct Errstate {
  int ignored = 0, reported = 0;
  bool operator==(const Errstate&) const = default;
};

struct BoxedCall {
  PyRef callable;
  std::vector<CallPart> arguments;  // the positional ones, then those of `keywords`
  PyRef keywords;                   // a tuple of names, null when there are none
  std::vector<Type> operands;       // of the op: kinds, dtypes, ranks
  std::vector<Type> results;        // kinds, dtypes, ranks, memory orders; the extents are those of the ops that receive them
  bool gives_tuple = false;         // of the results; else there is one
  int changed = -1;  // operand that the callable changes: it gets a copy, which is the result, and what it returns is dropped
  bool raises_events = false;  // a ufunc: an event that the caller or the code does not ignore makes the call fail
  Errstate errstate;           // of the code around the call
  bool draws_double = false;   // Generator.random(): one double of the bit generator
  int generator = -1;          // argument, a numpy.random.Generator, whose state a run that fails has to restore
};

}  // namespace accel
