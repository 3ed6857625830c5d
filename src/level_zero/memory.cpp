// SPDX-License-Identifier: MIT
// Buffer: ownership of one USM allocation.
#include "kiln/memory.hpp"

#include "level_zero/call.hpp"
#include "level_zero/observe.hpp"
#include "memory/own.hpp"

namespace kiln {

Buffer Buffer::adopt(Ref<ze_context_handle_t> context, void* data, std::size_t size, MemoryKind kind) {
  Buffer buffer;
  buffer.context_ = context;
  buffer.data_ = data;
  buffer.size_ = size;
  buffer.kind_ = kind;
  if (data) detail::own_memory_taken(kind, size);
  return buffer;
}

Buffer::Buffer(Buffer&& other) noexcept
    : context_(other.context_),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      kind_(other.kind_) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  reset();
  context_ = other.context_;
  kind_ = other.kind_;
  size_ = std::exchange(other.size_, 0);
  data_ = std::exchange(other.data_, nullptr);
  return *this;
}

void* Buffer::release() {
  if (data_) detail::own_memory_given(kind_, size_);
  size_ = 0;
  return std::exchange(data_, nullptr);
}

void Buffer::reset() {
  const std::size_t size = std::exchange(size_, 0);
  void* const data = std::exchange(data_, nullptr);
  if (data) detail::own_memory_given(kind_, size);
  if (!data || detail::tearing_down) return;
  detail::tell_allocation({data, size, kind_, true, context_.raw()});
  KILN_DESTROY(zeMemFree, context_, data);
}

}  // namespace kiln
