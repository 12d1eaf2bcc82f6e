#pragma once
// The compiled versions of one function. Requires the GIL; an entry that is in use outlives its removal from the list.

#include <memory>
#include <utility>
#include <vector>

#include "dispatch/entries/entry.h"

namespace accel {

// A counted reference to an entry. The count needs no atomics, as it only changes under the GIL.
class EntryHold {
 public:
  explicit EntryHold(std::unique_ptr<Entry> entry) : shared_(new Shared{std::move(entry), 1}) {}
  EntryHold(const EntryHold& other) : shared_(other.shared_) { shared_->holds++; }
  EntryHold(EntryHold&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  EntryHold& operator=(EntryHold other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~EntryHold() {
    if (shared_ != nullptr && --shared_->holds == 0) delete shared_;
  }

  Entry* operator->() const { return shared_->entry.get(); }
  Entry& operator*() const { return *shared_->entry; }

 private:
  struct Shared {
    std::unique_ptr<Entry> entry;
    int holds;
  };
  Shared* shared_;
};

using VersionList = std::vector<EntryHold>;

// The versions of one function, and the one that answered last, which is tried first.
class Versions {
 public:
  const VersionList& list() const { return list_; }
  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  const EntryHold& operator[](size_t index) const { return list_[index]; }
  // The index of the version that answered last; not below size() when there is none.
  size_t hot() const { return hot_; }
  // Records which version answered; the index may be out of range, as versions may have been dropped since.
  void answered(size_t index) { hot_ = index < list_.size() ? index : 0; }

  // Adds a version, which the next call tries first.
  void add(std::unique_ptr<Entry> entry);
  // Removes an entry; returns whether it was in the list.
  bool drop(const Entry& entry);
  // Moves all versions to the caller.
  VersionList take_all();

 private:
  VersionList list_;
  size_t hot_ = 0;
};

}  // namespace accel
