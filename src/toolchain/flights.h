#pragma once
// What several threads of the process ask for at once is made by one of them; the others wait for its product.

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "toolchain/compiled_kernel.h"
#include "toolchain/fork.h"
#include "toolchain/notices.h"

namespace accel {

template <class Product>
class Flights {
 public:
  // The product of `key`, by `make` in this thread or from the thread that makes it now. Failures but interruptions are
  // reported as warnings. Fails with interrupted when is_interrupted() says so.
  template <class Make>
  static Result<Product> get(const Digest& key, Make make) {
    while (true) {
      bool first = false;
      auto flight = join(key, first);
      if (first) return finish(key, *flight, guarded(make));
      if (auto result = wait_for(*flight)) return *result;  // else the thread that made it was interrupted
    }
  }

 private:
  struct Flight {
    std::condition_variable landed;
    std::optional<Result<Product>> result;
  };
  struct State {
    std::mutex mutex;
    std::map<Digest, std::shared_ptr<Flight>> flights;
  };

  static State& state() { return process_wide<State>(forget); }

  // In the child of a fork: the threads that would complete these flights do not exist. The flights are leaked, not destroyed,
  // as threads of the parent wait on them.
  static void forget() {
    auto* abandoned = new auto(std::move(state().flights));
    (void)abandoned;
    state().flights.clear();
  }

  // The flight of `key`; `first`: whether the caller must do the work.
  static std::shared_ptr<Flight> join(const Digest& key, bool& first) {
    std::lock_guard lock(state().mutex);
    auto [at, inserted] = state().flights.try_emplace(key);
    if (inserted) at->second = std::make_shared<Flight>();
    first = inserted;
    return at->second;
  }

  // Out of memory is the only exception there can be; others wait for this flight, so it must land.
  template <class Make>
  static Result<Product> guarded(Make& make) {
    try {
      return make();
    } catch (const std::exception& error) {
      return fail(Reason::internal_error, error.what());
    }
  }

  static Result<Product> finish(const Digest& key, Flight& flight, Result<Product> result) {
    if (!result.ok() && result.failure().reason != Reason::interrupted)
      warn_once(result.failure().reason, "", result.failure().detail);
    {
      std::lock_guard lock(state().mutex);
      flight.result = result;
      state().flights.erase(key);
    }
    flight.landed.notify_all();
    return result;
  }

  // What another thread makes; nullopt: it was interrupted.
  static std::optional<Result<Product>> wait_for(Flight& flight) {
    while (true) {
      {
        std::unique_lock lock(state().mutex);
        flight.landed.wait_for(lock, std::chrono::milliseconds(30), [&] { return flight.result.has_value(); });
        if (flight.result && !flight.result->ok() && flight.result->failure().reason == Reason::interrupted)
          return std::nullopt;
        if (flight.result) return flight.result;
      }
      if (is_interrupted()) return Result<Product>(fail(Reason::interrupted, {}));
    }
  }
};

}  // namespace accel
