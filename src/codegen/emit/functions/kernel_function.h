#pragma once
// KernelFunction: one function of the kernel: a nest, or what a nest runs in parallel (a region).
//
// It becomes two functions of the text. The outer one, called by the kernel or by the runtime's threads, provides heap scratch
// and brackets the inner one with the floating-point flags. The inner one has the buffers as restrict parameters: names of
// buffers never alias within a nest. Its statements are written by the writers (writer.h).

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/emit/emission.h"

namespace accel {

class KernelFunction {
 public:
  // given: null when the function reads symbols and buffers from the frame; of_regions: likewise of those that it runs in
  // parallel. Regions that get them share functions, too.
  KernelFunction(Copy& copy, const Nest& nest, std::string name, GivenDims* given = nullptr, GivenDims* of_regions = nullptr)
      : emission_(copy, nest, given), name_(std::move(name)), given_(given), of_regions_(of_regions) {}

  // Text of the nest's functions; the last one is `static void <name>(Frame* frame, <temps that the nest gets>)`. In a program
  // with blocks it is `static void <name>_body(Frame* frame, int* status, <buffers>, <temps>)`, which leaves its events in the
  // flags. With given dims both get buffers, temps and these.
  Result<std::string> write_nest();
  // Requires write_nest(): buffers that the body of a nest gets.
  std::vector<BufferId> body_buffers() const;
  int region_count() const { return regions_; }

  Emission& emission() { return emission_; }
  // A function for `body`, to be run in parallel: temps from outside are its parameters, except constants of the launch.
  KernelFunction region(const Body& body);
  void add_parameter(std::string type, std::string name, std::string argument);
  // Runs `inner`, whose text is complete, over [0, count).
  void launch(KernelFunction& inner, const Body& body, const std::string& count, const std::string& grain);

 private:
  struct Parameter {
    std::string type, name;
    std::string argument;  // what the caller passes
    Dim dim = {};          // that it is, if any
  };

  // kernel_function.cpp
  void write_statements();
  void take_temps(const Body& body);
  void take_given();
  void parallel_loop(const Stmt& stmt);
  void add_region(KernelFunction& inner, const std::string& text);
  void call_directly(KernelFunction& inner, const std::string& count);
  void check_scratch_is_local();

  // function_text.cpp
  std::string assemble(int events, bool is_region);
  void place_scratch();
  void write_arguments(Code& out) const;
  void write_inner(Code& out, bool is_region);
  void write_outer(Code& out, int events, bool is_region);
  void write_symbols(Code& out) const;
  std::string parameter_text(bool is_region) const;
  std::vector<std::string> inner_arguments(bool is_region) const;
  std::vector<BufferId> passed_buffers() const;

  Emission emission_;
  std::string name_;
  GivenDims *given_, *of_regions_;
  std::vector<Parameter> parameters_;  // of a region: members of its arguments
  std::string before_;                 // text of inner functions
  int regions_ = 0;
  std::map<std::string, std::string> region_names_;  // names by text
  std::set<BufferId> stack_, heap_;                  // scratch among the buffers
};

// The text with the names of buffers, dims, temps and loop variables numbered in the order in which they come.
std::string with_numbered_names(const std::string& text);

// Whether the nest's function is part of its caller, so that it cannot be shared.
bool is_inlined(const Nest& nest);

}  // namespace accel
