// SPDX-License-Identifier: MIT
// Ref and Unique: a one-word view of a Level Zero handle, and the owner that destroys it.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace kiln {

/// A handle that somebody else owns. Trivially copyable, one word, converts from the raw handle.
template <class RawHandle>
class Ref {
 public:
  using Handle = RawHandle;

  constexpr Ref() = default;
  constexpr Ref(Handle handle) : handle_(handle) {}  // implicit: an engine passes its own handles

  [[nodiscard]] constexpr Handle raw() const { return handle_; }
  constexpr explicit operator bool() const { return handle_ != nullptr; }
  friend constexpr bool operator==(Ref, Ref) = default;

 protected:
  Handle handle_ = nullptr;
};

/// Owns what `R` refers to and calls `R::destroy` once. Parents must outlive children; nothing is counted.
/// Movable; a moved-from owner is empty. One thread at a time.
template <class R>
class Unique {
 public:
  using Handle = typename R::Handle;

  constexpr Unique() = default;
  Unique(Unique&& other) noexcept : ref_(other.release()) {}
  Unique& operator=(Unique&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Unique() { reset(); }

  /// Takes over a raw handle, which this owner will destroy.
  [[nodiscard]] static Unique adopt(Handle handle) {
    Unique owner;
    owner.ref_ = R(handle);
    return owner;
  }
  static Unique adopt(int) = delete;
  static Unique adopt(std::nullptr_t) = delete;

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
  void reset() { reset(Handle{}); }

 private:
  void reset(Handle next) {
    const Handle old = std::exchange(ref_, R(next)).raw();
    if (old) R::destroy(old);
  }

  R ref_;
};

#define KILN_HANDLE_CHECKS(R)                                                   \
  static_assert(sizeof(R) == sizeof(void*) && std::is_trivially_copyable_v<R>); \
  static_assert(sizeof(::kiln::Unique<R>) == sizeof(void*))

}  // namespace kiln
