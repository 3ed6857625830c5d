// SPDX-License-Identifier: MIT
// What the handles of the C interface name. Each keeps what it was made of, so that any order of ends is
// good.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capi/handles.hpp"
#include "kiln/bundle.hpp"
#include "kiln/explain.hpp"
#include "kiln/kiln.h"
#include "kiln/sharing.hpp"

namespace kiln_c {

using namespace kiln;

struct ErrorObject {
  static constexpr Kind kKind = Kind::error;
  using Handle = kiln_error;
  Error error;
  std::string text, json;
};

struct FileObject {
  static constexpr Kind kKind = Kind::file;
  static constexpr const char* kName = "kiln_file";
  using Handle = kiln_file;
  std::string name;
  std::vector<std::byte> bytes;
  std::vector<BinaryPart> parts;
};

struct FindingsObject {
  static constexpr Kind kKind = Kind::findings;
  static constexpr const char* kName = "kiln_findings";
  using Handle = kiln_findings;
  struct Finding {
    Diagnostic diagnostic;
    std::string text, json;
  };
  std::vector<Finding> findings;
};

struct MeaningObject {
  static constexpr Kind kKind = Kind::meaning;
  static constexpr const char* kName = "kiln_meaning";
  using Handle = kiln_meaning;
  CodeMeaning meaning;
  std::vector<const char*> causes, cures;
};

struct DeviceObject {
  static constexpr Kind kKind = Kind::device;
  static constexpr const char* kName = "kiln_device";
  using Handle = kiln_device;

  explicit DeviceObject(OpenDevice&& opened) : own(std::move(opened)), open(own) {}
  /// In a context that is another's: of an object here, or of the engine (null).
  DeviceObject(LentDevice&& given, std::shared_ptr<DeviceObject> context_owner)
      : owner(std::move(context_owner)), lent(std::move(given)), open(lent.get()) {}
  DeviceObject(const DeviceObject&) = delete;
  DeviceObject& operator=(const DeviceObject&) = delete;

  std::shared_ptr<DeviceObject> owner;
  OpenDevice own;
  LentDevice lent;
  const OpenDevice& open;
  std::uint32_t queue_group = 0;  // the first that can compute
};

struct BufferObject {
  static constexpr Kind kKind = Kind::buffer;
  static constexpr const char* kName = "kiln_buffer";
  using Handle = kiln_buffer;
  ~BufferObject() {
    if (ipc) static_cast<void>(buffer.release());
  }
  std::shared_ptr<DeviceObject> device;
  IpcMemory ipc;  // of another process; then `buffer` only looks at it
  Buffer buffer;
};

struct CacheObject {
  static constexpr Kind kKind = Kind::cache;
  static constexpr const char* kName = "kiln_cache";
  using Handle = kiln_cache;
  Cache cache;
};

struct BundleObject {
  static constexpr Kind kKind = Kind::bundle;
  static constexpr const char* kName = "kiln_bundle";
  using Handle = kiln_bundle;
  std::shared_ptr<DeviceObject> device;
  Bundle bundle;
};

struct KernelObject {
  static constexpr Kind kKind = Kind::kernel;
  static constexpr const char* kName = "kiln_kernel";
  using Handle = kiln_kernel;
  std::shared_ptr<BundleObject> bundle;
  OwnKernel kernel;
};

struct ListObject {
  static constexpr Kind kKind = Kind::list;
  static constexpr const char* kName = "kiln_list";
  using Handle = kiln_list;
  ~ListObject() {
    if (lent) static_cast<void>(list.release());
  }
  std::shared_ptr<DeviceObject> device;
  CommandList list;
  bool lent = false;
};

struct QueueObject {
  static constexpr Kind kKind = Kind::queue;
  static constexpr const char* kName = "kiln_queue";
  using Handle = kiln_queue;
  std::shared_ptr<DeviceObject> device;
  CommandQueue queue;
};

struct EventPoolObject {
  static constexpr Kind kKind = Kind::event_pool;
  static constexpr const char* kName = "kiln_event_pool";
  using Handle = kiln_event_pool;
  std::shared_ptr<DeviceObject> device;
  EventPool pool;
  std::uint32_t count = 0;  // of events
};

struct EventObject {
  static constexpr Kind kKind = Kind::event;
  static constexpr const char* kName = "kiln_event";
  using Handle = kiln_event;
  std::shared_ptr<DeviceObject> device;
  ~EventObject() {
    if (lent) static_cast<void>(event.release());
  }
  std::shared_ptr<EventPoolObject> pool;  // null: counter-based, or lent
  Event event;
  bool lent = false;
};

template <class Object>
[[nodiscard]] Object* find(typename Object::Handle handle) {
  return static_cast<Object*>(find(Object::kKind, handle));
}

}  // namespace kiln_c
