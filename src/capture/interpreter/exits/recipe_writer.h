#pragma once
// Writes recipes for the abstract values that are alive at an exit.

#include <map>
#include <unordered_map>
#include <vector>

#include "capture/context/context.h"

namespace accel {

// operator.call (borrowed): the callable in recipes that make a generator or a view of a dict.
PyObject* operator_call();

class RecipeWriter {
 public:
  // probes: only tests whether recipes can be written, and adds nothing to the graph.
  explicit RecipeWriter(Capture& capture, bool probes = false) : capture_(capture), probes_(probes) {}

  bool probes() const { return probes_; }
  // The recipe of a value; each value has one. Fails when an exit cannot make the object.
  Result<RecipeId> write(const Ref& value);

  std::vector<Recipe> take_recipes() { return std::move(recipes_); }
  const std::vector<Recipe>& recipes() const { return recipes_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  // Writes the stores to objects of the caller.
  Status write_stores();
  std::vector<StoreRecipe> take_stores() { return std::move(stores_); }
  // Appends the run-time symbols that recipes use to the outputs.
  std::vector<BoundSymbol> write_symbols();
  // Storages of fresh arrays by their recipes.
  const std::map<RecipeId, std::shared_ptr<Storage>>& fresh_memory() const { return fresh_; }
  // The recipe of a value if it has been written, else -1.
  RecipeId written(const Ref& value) const;
  // Written objects that have an identity (has_identity), with their recipes. Arrays that cover fresh memory are omitted.
  std::vector<std::pair<Ref, RecipeId>> made_objects() const;

 private:
  Result<RecipeId> make(const Ref& value);
  Result<RecipeId> write_known(const AbstractValue& constant);
  Result<RecipeId> write_exact_array(const AbstractValue& array);
  Result<RecipeId> write_parts_or_object(RecipeKind kind, const AbstractValue& value);
  Result<RecipeId> write_cell(const AbstractValue& cell);
  Result<RecipeId> write_masked_selection(const AbstractValue& value);
  Status check_identity() const;
  Result<RecipeId> write_array(const ArrayState& array);
  Result<RecipeId> write_view_or_copy(const Storage& storage);
  Result<RecipeId> write_storage(const std::shared_ptr<Storage>& storage);
  RecipeId write_output(const Storage& storage);
  RecipeId write_shown(RecipeKind kind, const Ref& identity, RecipeId otherwise);
  bool is_as_shown(const Storage& storage) const;
  Result<RecipeId> write_scalar(const ScalarState& scalar);
  Result<RecipeId> write_selected(const AbstractValue& number);
  Result<RecipeId> write_parts(RecipeKind kind, const std::vector<Ref>& parts, PyRef object = {}, int index = -1);
  Result<RecipeId> write_row(const AbstractValue& row);
  Result<RecipeId> write_dynamic_list(const AbstractValue& list);
  Result<RecipeId> write_named(RecipeKind kind, const AbstractValue& value);
  Result<RecipeId> write_instance(const AbstractValue& value);
  Result<RecipeId> write_errstate_token(const AbstractValue& token);
  Result<RecipeId> write_partial(const AbstractValue& partial);
  Result<RecipeId> write_dict_view(const AbstractValue& view);
  Result<RecipeId> write_iterator(const Ref& iterator);
  Result<RecipeId> write_method(const AbstractValue& method);
  Result<RecipeId> write_generator(const AbstractValue& generator);
  RecipeId write_constant(PyRef object);
  RecipeId write_source(SourceId source);
  RecipeId add(Recipe recipe);

  Capture& capture_;
  bool probes_;
  std::vector<Recipe> recipes_;
  std::vector<StoreRecipe> stores_;
  std::vector<ValueId> outputs_;
  std::unordered_map<const AbstractValue*, RecipeId> written_;  // -1: in progress
  std::unordered_map<const Storage*, RecipeId> storages_;
  std::map<SourceId, RecipeId> sources_;
  std::map<RecipeId, std::shared_ptr<Storage>> fresh_;
  std::vector<Ref> keep_;
  bool has_rows_ = false, has_held_ = false;  // written: lists with array rows; memory that such rows may stand for
};

}  // namespace accel
