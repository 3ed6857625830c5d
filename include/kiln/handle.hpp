// SPDX-License-Identifier: MIT
// Ref and Unique: a view of a Level Zero handle with the entry points behind it, and the owner that destroys
// it.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "kiln/api.hpp"

namespace kiln {

/// A handle that somebody else owns, and the dispatch table of its driver. Trivially copyable, two words,
/// converts from the raw handle.
template <class RawHandle>
class Ref {
 public:
  using Handle = RawHandle;

  constexpr Ref() = default;
  /// Implicit: an engine passes its own handles. They are those of default_api(): of a driver beside it, name
  /// its table.
  Ref(Handle handle) : Ref(handle, default_api()) {}
  constexpr Ref(Handle handle, const Api& api) : handle_(handle), api_(&api) {}

  [[nodiscard]] constexpr Handle raw() const { return handle_; }
  /// Of an empty one, a table whose entry points give UNINITIALIZED.
  [[nodiscard]] constexpr const Api& api() const { return api_ ? *api_ : detail::no_driver(); }
  /// The same, null where no table was given: for comparisons on the way of a launch.
  [[nodiscard]] constexpr const Api* table() const { return api_; }
  constexpr explicit operator bool() const { return handle_ != nullptr; }
  /// By the handle alone: it is an address, which no two drivers of a process give.
  friend constexpr bool operator==(const Ref& a, const Ref& b) { return a.handle_ == b.handle_; }

 private:
  Handle handle_ = nullptr;
  const Api* api_ = nullptr;  // only without a handle
};

/// Owns what `R` refers to and calls `R::destroy` once. Parents must outlive children; nothing is counted.
/// Movable; a moved-from owner is empty. One thread at a time.
template <class R>
class Unique {
 public:
  using Handle = typename R::Handle;

  constexpr Unique() = default;
  Unique(Unique&& other) noexcept : ref_(std::exchange(other.ref_, R())) {}
  Unique& operator=(Unique&& other) noexcept {
    if (this != &other) reset(std::exchange(other.ref_, R()));
    return *this;
  }
  ~Unique() { reset(); }

  /// Takes over a raw handle, which this owner will destroy through that table.
  [[nodiscard]] static Unique adopt(Handle handle, const Api& api = default_api()) {
    Unique owner;
    owner.ref_ = R(handle, api);
    return owner;
  }
  static Unique adopt(int, const Api& = default_api()) = delete;
  static Unique adopt(std::nullptr_t, const Api& = default_api()) = delete;

  [[nodiscard]] R get() const& { return ref_; }
  R get() const&& = delete;  // the owner dies at the end of the expression, and the handle with it
  operator R() const& { return ref_; }
  operator R() const&& = delete;
  const R* operator->() const& { return &ref_; }
  const R* operator->() const&& = delete;
  explicit operator bool() const { return static_cast<bool>(ref_); }

  /// Gives the handle away without destroying it.
  [[nodiscard]] Handle release() { return std::exchange(ref_, R()).raw(); }

  /// Destroys what is owned, if anything.
  void reset() { reset(R()); }

 private:
  void reset(R next) {
    const R old = std::exchange(ref_, next);
    if (old) R::destroy(old);
  }

  R ref_;
};

#define KILN_HANDLE_CHECKS(R)                                                       \
  static_assert(sizeof(R) == 2 * sizeof(void*) && std::is_trivially_copyable_v<R>); \
  static_assert(sizeof(::kiln::Unique<R>) == sizeof(R))

}  // namespace kiln
