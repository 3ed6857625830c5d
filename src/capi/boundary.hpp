// SPDX-License-Identifier: MIT
// The boundary to C: what comes in is checked, and what goes out is a result and an error, never an
// exception.
#pragma once

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "capi/objects.hpp"

namespace kiln_c {

/// K0901: null, or no handle of that kind.
[[nodiscard]] Error bad_handle(const char* call, const char* type, const void* handle);
/// K0902: a struct whose size or version this library does not know.
[[nodiscard]] Error bad_struct(const char* call, const char* type, std::uint32_t size, std::uint32_t known,
                               std::uint32_t version);
/// K0902: what a newer header has there is set.
[[nodiscard]] Error newer_struct(const char* call, const char* type, std::uint32_t size, std::uint32_t known);
/// The same of what a struct of now keeps free.
[[nodiscard]] Error reserved_struct(const char* call, const char* type, std::uint32_t value);
/// K0903: a parameter that cannot be meant. `message` goes on behind its name.
[[nodiscard]] Error bad_parameter(ze_result_t code, const char* call, const char* parameter,
                                  const std::string& message, std::vector<std::string> help = {});
[[nodiscard]] Error null_parameter(const char* call, const char* parameter);
/// K0903: there are only `count` of them.
[[nodiscard]] Error out_of_range(const char* call, const char* parameter, std::uint64_t index,
                                 std::uint64_t count);

/// K0903: a number of an enumeration or bits of flags that this library does not know.
[[nodiscard]] Error unknown_bits(const char* call, const char* parameter, std::uint32_t value);

/// An error as a handle; where there is no memory for it, the one that needs none.
[[nodiscard]] kiln_error error_of(const Error& error);
/// Makes an error of the C interface where one is wanted.
kiln_result fail(const Error& error, kiln_error* out);
/// With an error that needs no memory.
kiln_result fail_without_memory(kiln_error* out);
kiln_result fail_unknown(kiln_error* out, const char* call);

/// Runs the body of a function, which returns Result<void>. A thread that is cancelled goes on ending.
template <class Body>
kiln_result run(const char* call, kiln_error* out, Body&& body) {
  if (out) *out = nullptr;
  kiln_result result = KILN_SUCCESS;
  try {
    const Result<void> done = std::forward<Body>(body)();
    if (!done) [[unlikely]]
      result = fail(done.error(), out);
  } catch (const ::abi::__forced_unwind&) {
    throw;
  } catch (const std::bad_alloc&) {
    result = fail_without_memory(out);
  } catch (...) {
    result = fail_unknown(out, call);
  }
  return result;
}

template <class Object>
[[nodiscard]] Result<Object*> get(const char* call, typename Object::Handle handle) {
  Object* const object = find<Object>(handle);
  if (!object) [[unlikely]]
    return tl::unexpected(bad_handle(call, Object::kName, handle));
  return object;
}

/// The same with ownership, for what is made of it.
template <class Object>
[[nodiscard]] Result<std::shared_ptr<Object>> hold(const char* call, typename Object::Handle handle) {
  auto object = std::static_pointer_cast<Object>(share(Object::kKind, handle));
  if (!object) return tl::unexpected(bad_handle(call, Object::kName, handle));
  return object;
}

/// Where a handle goes. Null is an error, found before anything is made.
template <class Handle>
[[nodiscard]] Result<void> receives(const char* call, const char* parameter, Handle* out) {
  if (!out) return tl::unexpected(null_parameter(call, parameter));
  *out = nullptr;
  return {};
}

template <class Object>
[[nodiscard]] Result<void> give(const char* call, std::shared_ptr<Object> object,
                                typename Object::Handle* out) {
  void* const handle = keep(Object::kKind, std::move(object));
  if (!handle) return tl::unexpected(Error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, call));
  *out = static_cast<typename Object::Handle>(handle);
  return {};
}

template <class Object>
void destroy(typename Object::Handle handle) {
  const auto last = take(Object::kKind, handle);
}

inline constexpr std::size_t kLongestText = 65535;                    // bytes, without the zero
inline constexpr std::size_t kLongestSource = std::size_t{64} << 20;  // bytes, of OpenCL C

/// A text from outside: not null, and not longer than `longest`.
[[nodiscard]] Result<std::string> text(const char* call, const char* parameter, const char* given,
                                       std::size_t longest = kLongestText);
/// The same where null stands for "".
[[nodiscard]] Result<std::string> optional_text(const char* call, const char* parameter, const char* given,
                                                std::size_t longest = kLongestText);

/// A text for C, with a zero behind it; where there is no memory for a long one, its beginning. For what is
/// called by code that takes no exception.
class ZeroEnded {
 public:
  explicit ZeroEnded(std::string_view text);
  [[nodiscard]] const char* data() const { return many_ ? many_.get() : few_.data(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::unique_ptr<char[]> many_;
  std::size_t size_;
  std::array<char, 512> few_;
};

inline constexpr std::uint32_t kLargestStruct = 4096;  // bytes; no header is near

/// Bytes that a struct had in the first release that had it: what is smaller was never a header's.
template <class Struct>
inline constexpr std::uint32_t kFirstSize = sizeof(Struct);
// Before stores of several machines.
template <>
inline constexpr std::uint32_t kFirstSize<kiln_cache_options> = offsetof(kiln_cache_options, remote);
template <>
inline constexpr std::uint32_t kFirstSize<kiln_cache_counts> = offsetof(kiln_cache_counts, remote_hits);

template <class Struct>
[[nodiscard]] Result<void> check_struct(const char* call, const char* type, const Struct* given) {
  if (!given) return tl::unexpected(null_parameter(call, type));
  if (given->struct_version != KILN_STRUCT_VERSION || given->struct_size < kFirstSize<Struct> ||
      given->struct_size > kLargestStruct)
    return tl::unexpected(bad_struct(call, type, given->struct_size, sizeof(Struct), given->struct_version));
  return {};
}

/// What a caller fills in. An older program's struct is read as far as it goes.
template <class Struct>
class Input {
 public:
  [[nodiscard]] static Result<void> read(const char* call, const char* type, const Struct* given,
                                         Input& into) {
    KILN_TRY(check_struct(call, type, given));
    const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
    if (given->struct_size > sizeof(Struct) && std::any_of(bytes + sizeof(Struct), bytes + given->struct_size,
                                                           [](unsigned char b) { return b != 0; }))
      return tl::unexpected(newer_struct(call, type, given->struct_size, sizeof(Struct)));
    if (given->struct_size < sizeof(Struct))
      std::memcpy(&into.own_, given, given->struct_size);
    else
      into.given_ = given;
    if constexpr (requires { given->reserved; })
      if (into->reserved != 0) [[unlikely]]
        return tl::unexpected(reserved_struct(call, type, into->reserved));
    return {};
  }
  [[nodiscard]] const Struct* operator->() const { return given_ ? given_ : &own_; }

 private:
  const Struct* given_ = nullptr;
  Struct own_{};
};

/// What a caller gets: as much of it as its struct has, zeros behind what this library knows.
template <class Struct>
[[nodiscard]] Result<void> write(const char* call, const char* type, const Struct& value, Struct* out) {
  KILN_TRY(check_struct(call, type, out));
  const std::uint32_t size = out->struct_size;
  auto* const bytes = reinterpret_cast<unsigned char*>(out);
  std::memcpy(bytes, &value, std::min<std::size_t>(size, sizeof(Struct)));
  if (size > sizeof(Struct)) std::memset(bytes + sizeof(Struct), 0, size - sizeof(Struct));
  out->struct_size = size;
  out->struct_version = KILN_STRUCT_VERSION;
  return {};
}

/// 0 in `y` or `z` stands for 1.
[[nodiscard]] inline Extent extent_of(const kiln_extent& given) {
  return {given.x, given.y ? given.y : 1, given.z ? given.z : 1};
}

[[nodiscard]] inline std::span<const std::byte> bytes_of(const void* data, std::size_t size) {
  return {static_cast<const std::byte*>(data), size};
}

[[nodiscard]] inline Timeout timeout_of(std::uint64_t nanoseconds) {
  return nanoseconds > static_cast<std::uint64_t>(INT64_MAX)
             ? kForever
             : Timeout(static_cast<std::int64_t>(nanoseconds));
}

/// Facts of a kernel and of its arguments, as C has them. What they point to is in `facts`.
[[nodiscard]] kiln_kernel_info kernel_info(const KernelFacts& facts);
[[nodiscard]] kiln_argument_info argument_info(const ArgumentFacts& facts);
[[nodiscard]] FindingsObject::Finding finding(Diagnostic diagnostic);

}  // namespace kiln_c
