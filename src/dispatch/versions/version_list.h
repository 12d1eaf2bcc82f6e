#pragma once
// The compiled versions of one function. Requires the GIL; an entry that is in use outlives its removal from the list.

#include <memory>
#include <utility>
#include <vector>

#include "dispatch/entries/entry.h"

namespace accel {

// An entry and how many hold it. The count needs no atomics: it changes under the GIL only.
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

// The versions of one function, and which of them answered last: that one is tried first.
class Versions {
 public:
  const VersionList& list() const { return list_; }
  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  const EntryHold& operator[](size_t index) const { return list_[index]; }
  // Index of the one that answered last; not below size() when there is none.
  size_t hot() const { return hot_; }
  // Versions may have been dropped since.
  void answered(size_t index) { hot_ = index < list_.size() ? index : 0; }

  // The next call tries it first.
  void add(std::unique_ptr<Entry> entry);
  // Whether it was among them.
  bool drop(const Entry& entry);
  // Gives them all up to the caller.
  VersionList take_all();

 private:
  VersionList list_;
  size_t hot_ = 0;
};

}  // namespace accel
