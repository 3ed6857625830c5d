// SPDX-License-Identifier: MIT
// What all Level Zero objects of the CPU driver share: their first words, handle casts and argument checks.
#pragma once

#include <cstdint>
#include <new>
#include <utility>

#include "drivers/cpu/api/abi.hpp"
#include "drivers/cpu/objects/live_handles.hpp"

namespace kiln::cpu {

/// Four pointers to dispatch tables stand at the start of every object, so that a loader that knows
/// ZE_extension_driver_ddi_handles can call through a handle without an object of its own around it.
struct DispatchPointers {
  const void* core;
  const void* tools;
  const void* sysman;
  const void* runtime;
};

/// Defined beside the tables.
extern const DispatchPointers kDispatch;

/// Base of every object, which is in the set of live handles while it lives. No virtual functions: the first
/// byte of the object is `dispatch_`.
class Object {
 public:
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

 protected:
  explicit Object(HandleKind kind) { enter_live(this, kind); }
  ~Object() { leave_live(this); }

 private:
  [[maybe_unused]] DispatchPointers dispatch_ = kDispatch;
};

/// The object behind a handle; null stays null. `T::Handle` names the handle's type.
template <class T>
T* object(typename T::Handle handle) {
  return reinterpret_cast<T*>(handle);
}

template <class T>
typename T::Handle handle(T* object) {
  return reinterpret_cast<typename T::Handle>(object);
}

/// Runs `body`, which gives a ze_result_t, and turns a failed host allocation into its result code.
template <class Body>
ze_result_t guarded(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  } catch (...) {
    return ZE_RESULT_ERROR_UNKNOWN;
  }
}

/// The common pattern of "count in, count out, array optional": `write(i)` is called for each element asked
/// for.
template <class Write>
ze_result_t enumerate(std::uint32_t available, std::uint32_t* count, bool has_array, Write&& write) {
  if (!count) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  if (*count == 0 || *count > available) *count = available;
  if (has_array)
    for (std::uint32_t i = 0; i < *count; ++i) write(i);
  return ZE_RESULT_SUCCESS;
}

/// The first structure of that type on a pNext chain, or null. Unknown structures are passed over.
template <class T>
T* find_chained(void* chain, ze_structure_type_t type) {
  for (auto* item = static_cast<abi::Chained*>(chain); item; item = item->next)
    if (item->stype == type) return reinterpret_cast<T*>(item);
  return nullptr;
}
template <class T>
const T* find_chained(const void* chain, ze_structure_type_t type) {
  return find_chained<T>(const_cast<void*>(chain), type);
}

}  // namespace kiln::cpu

/// Returns from the calling function: bad handle, null pointer, in the order of the specification.
#define KILN_NEED_HANDLE(handle)                                                   \
  if (const ze_result_t kiln_checked = ::kiln::cpu::check_handle(handle, #handle); \
      kiln_checked != ZE_RESULT_SUCCESS)                                           \
  return kiln_checked
#define KILN_NEED_POINTER(pointer) \
  if (!(pointer)) return ZE_RESULT_ERROR_INVALID_NULL_POINTER
