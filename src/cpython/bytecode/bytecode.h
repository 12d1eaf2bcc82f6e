#pragma once
// Bytecode: a code object as a list of micro-ops that do not depend on the CPython version. The ops are rows of bytecode.inc.
//
// One native instruction becomes one micro-op or, for superinstructions and combined forms, several. A frame can be handed to
// the interpreter before the first micro-op of a native instruction only; `part` counts how far a micro-op is from it.
//
// The value stack has CPython's own layout at every resume point, so it needs no conversion when a frame is handed over. That
// layout differs between versions in three things: a call without a receiver has NULL below or above its callable (call_slots()
// reads both forms and push_callable() makes the right one), iterator_slots, and exit_is_pair.

#include <Python.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cpython/py_ref.h"

namespace accel {

enum class Opcode : uint8_t {
#define OPCODE(name, effect, taken, flow, doc) name,
#include "cpython/bytecode/bytecode.inc"
#undef OPCODE
};

enum class Flow : uint8_t { next, branch, jump, stop };

// CPython's NB_* numbers without the augmented forms.
enum class BinaryOperator : uint8_t {
  add,
  and_,
  floor_divide,
  lshift,
  matrix_multiply,
  multiply,
  remainder,
  or_,
  power,
  rshift,
  subtract,
  true_divide,
  xor_,
};

enum FunctionAttribute : int { fn_defaults = 1, fn_kwdefaults = 2, fn_annotations = 4, fn_closure = 8, fn_annotate = 16 };

// What load_special loads.
enum SpecialMethod : int { special_enter, special_exit, special_aenter, special_aexit };

struct Instruction {
  Opcode op = Opcode::nop;
  uint8_t part = 0;  // micro-ops since the resume point of this native instruction
  int arg = 0;
  int arg2 = 0;
  PyObject* object = nullptr;  // borrowed from the code object (or a builtin exception type)
  int target = -1;             // index of an instruction
  int offset = 0;              // code unit where the interpreter resumes BEFORE the native instruction (its first prefix)
  int fault_offset = 0;        // code unit where an error of the instruction is reported and its handler is looked up
  int line = -1;               // -1: none
  int handler = -1;            // index into Bytecode::handlers, -1: errors leave the frame

  bool is_resume_point() const { return part == 0; }
};

// Where an exception goes: the stack is cut to `depth`, lasti (an int) is pushed if asked for, then the exception.
struct Handler {
  int target = -1;  // index of an instruction
  int depth = 0;
  bool push_lasti = false;
};

struct Bytecode {
  PyRef code;  // owns the `object`s
  std::vector<Instruction> instructions;
  std::vector<Handler> handlers;
  std::vector<int> index_at;  // code unit -> index of the instruction that resumes there, -1: none

  int index_of(int offset) const {
    return offset >= 0 && offset < static_cast<int>(index_at.size()) ? index_at[static_cast<size_t>(offset)] : -1;
  }
  // Index of the resume point at or before instruction `index`.
  int resume_index(int index) const { return index - instructions[static_cast<size_t>(index)].part; }
};

// Decodes `code` (borrowed). Runs no Python code of the user, leaves no exception. Fails with unsupported_opcode.
Result<Bytecode> decode(PyCodeObject* code);

// Instruction::fault_offset of the instruction that resumes at `offset` (or has it as fault_offset), without decoding
// everything.
int fault_offset_at(PyCodeObject* code, int offset);

const char* opcode_name(Opcode op);
Flow opcode_flow(Opcode op);
int opcode_count();
// Net growth of the value stack; `taken`: the branch to target is taken.
int stack_effect(const Instruction& instruction, bool taken);

// True: a call without a receiver is NULL, callable, args...; false: callable, NULL, args....
#if PY_VERSION_HEX >= 0x030D0000
inline constexpr bool null_below_callable = false;
#else
inline constexpr bool null_below_callable = true;
#endif

// Slots of an iterator that a loop or `yield from` goes through: since 3.15 the iterator and above it NULL, in whose place the
// interpreter itself may have an index into the iterable.
inline constexpr int iterator_slots = PY_VERSION_HEX >= 0x030F0000 ? 2 : 1;

// How the exit method of a `with` lies on the stack: as what load_special pushes, or bound, as before_with pushes it.
inline constexpr bool exit_is_pair = PY_VERSION_HEX >= 0x030E0000;

// Whether loads of local variables may borrow; see borrowed_values.h.
inline constexpr bool has_borrowed_values = PY_VERSION_HEX >= 0x030E0000;

// Pushes `callable` for a call without a receiver, in the layout of this version. `null` stands for NULL.
template <class Stack, class Value>
void push_callable(Stack& stack, Value callable, Value null) {
  if (null_below_callable) std::swap(callable, null);
  stack.push_back(std::move(callable));
  stack.push_back(std::move(null));
}

// Positions of a call's parts in a stack of `size` values with `argc` arguments on top (call_function_ex: sequence and
// mapping). `is_null(position)`: whether the value there is NULL. receiver is -1 when there is none; with one it lies just
// below the arguments, so the arguments with it are one contiguous range.
struct CallSlots {
  int callable = -1;
  int receiver = -1;
  int first_argument = -1;
};

template <class IsNull>
CallSlots call_slots(int size, int argc, IsNull is_null) {
  int first = size - argc - 2, second = first + 1, arguments = first + 2;
  if (is_null(first)) return {second, -1, arguments};
  return {first, is_null(second) ? -1 : second, arguments};
}

}  // namespace accel
