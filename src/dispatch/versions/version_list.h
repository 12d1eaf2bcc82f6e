#pragma once
// The compiled versions of one function. Requires the GIL; an entry that is in use outlives its removal from the list.

#include <memory>
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

}  // namespace accel
