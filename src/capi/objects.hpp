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
#include "kiln/memory_account.hpp"
#include "kiln/sharing.hpp"

namespace kiln_c {

using namespace kiln;

/// What an object is by its handle.
template <Kind kind, class H>
struct Named {
  static constexpr Kind kKind = kind;
  static constexpr const char* kName = name_of(kind);
  using Handle = H;
};

struct ErrorObject : Named<Kind::error, kiln_error> {
  Error error;
  std::string text, json;
};

struct FileObject : Named<Kind::file, kiln_file> {
  std::string name;
  std::vector<std::byte> bytes;
  std::vector<BinaryPart> parts;
};

struct FindingsObject : Named<Kind::findings, kiln_findings> {
  struct Finding {
    Diagnostic diagnostic;
    std::string text, json;
  };
  std::vector<Finding> findings;
};

struct MeaningObject : Named<Kind::meaning, kiln_meaning> {
  CodeMeaning meaning;
  std::vector<const char*> causes, cures;
};

struct AccountObject : Named<Kind::account, kiln_account> {
  MemoryAccount account;
  std::string json;
};

struct DeviceObject : Named<Kind::device, kiln_device> {
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

struct BufferObject : Named<Kind::buffer, kiln_buffer> {
  ~BufferObject() {
    if (ipc || host) static_cast<void>(buffer.release());
  }
  std::shared_ptr<DeviceObject> device;
  // Of another process, or the program's own; then `buffer` only looks at it.
  IpcMemory ipc;
  ImportedHost host;
  Buffer buffer;
};

struct CacheObject : Named<Kind::cache, kiln_cache> {
  Cache cache;
};

struct LoadedBundle {
  std::shared_ptr<DeviceObject> device;
  Bundle bundle;
};
/// Bundles that were linked after their build: as long as one of them is used, so are all.
struct LinkedBundles {
  std::vector<std::shared_ptr<LoadedBundle>> bundles;
  std::shared_ptr<LinkedBundles> larger;  // where these were linked to others since
};

struct BundleObject : Named<Kind::bundle, kiln_bundle> {
  std::shared_ptr<LoadedBundle> loaded = std::make_shared<LoadedBundle>();
  std::shared_ptr<LinkedBundles> linked;  // guarded by kiln_link_modules(); null: to none
};

struct KernelObject : Named<Kind::kernel, kiln_kernel> {
  std::shared_ptr<BundleObject> bundle;
  OwnKernel kernel;
};

struct ListObject : Named<Kind::list, kiln_list> {
  ~ListObject() {
    if (lent) static_cast<void>(list.release());
  }
  std::shared_ptr<DeviceObject> device;
  CommandList list;
  bool lent = false;
};

struct QueueObject : Named<Kind::queue, kiln_queue> {
  std::shared_ptr<DeviceObject> device;
  CommandQueue queue;
};

struct EventPoolObject : Named<Kind::event_pool, kiln_event_pool> {
  std::shared_ptr<DeviceObject> device;
  EventPool pool;
  std::uint32_t count = 0;  // of events
};

struct EventObject : Named<Kind::event, kiln_event> {
  ~EventObject() {
    if (lent) static_cast<void>(event.release());
  }
  std::shared_ptr<DeviceObject> device;
  std::shared_ptr<EventPoolObject> pool;  // null: counter-based, or lent
  Event event;
  bool lent = false;
};

template <class Object>
[[nodiscard]] Object* find(typename Object::Handle handle) {
  return static_cast<Object*>(find(Object::kKind, handle));
}

}  // namespace kiln_c
