// SPDX-License-Identifier: MIT
// Mistakes that the types must catch: with KILN_MISTAKES 0 this must compile, with 1 each marked line is an
// error.
#include "kiln/kiln.hpp"

namespace kiln {

struct NotCopyable {
  NotCopyable() = default;
  NotCopyable(const NotCopyable&) {}
};

inline void mistake(Context& context, CommandListRef list, const CheckedKernel& kernel,
                    ze_context_handle_t handle) {
  [[maybe_unused]] const ContextRef good = context.get();
  (void)launch(list, kernel, {}, 1, LocalMemory{16});
  const Event event;
  (void)list.wait({event, event.get()});
#if KILN_MISTAKES
  [[maybe_unused]] const ContextRef ref1 =
      Context::adopt(handle).get();                                 // MISTAKE: a ref that outlives its owner
  [[maybe_unused]] const ContextRef ref2 = Context::adopt(handle);  // MISTAKE: the same by conversion
  [[maybe_unused]] const Context owner3 = Context::adopt(0);        // MISTAKE: adoption of no handle
  [[maybe_unused]] const Context owner4 = Context::adopt(nullptr);  // MISTAKE: adoption of no handle
  (void)default_api().zeContextDestroy(context);   // MISTAKE: an owner where Level Zero wants a handle
  [[maybe_unused]] const Context copy5 = context;  // MISTAKE: two owners of one handle
  [[maybe_unused]] const Context owner6 = handle;  // MISTAKE: ownership without a word about it
  (void)make<ze_image_desc_t>();                   // MISTAKE: a struct whose type is not known
  (void)launch(list, kernel, {}, NotCopyable());   // MISTAKE: an argument that cannot be copied as bytes
  (void)launch(list, kernel, {}, &result_name);    // MISTAKE: a host function
  launch(list, kernel, {});                        // MISTAKE: a result that nobody looks at
  (void)context->allocate_device(DeviceRef(), 64)
      ->span<float>();  // MISTAKE: host access to memory of the device
  [[maybe_unused]] const HostBuffer host7(
      *context->allocate_device(DeviceRef(), 64));  // MISTAKE: the same by conversion
  (void)HostBuffer::adopt(context.get(), nullptr, 64,
                          MemoryKind::device);           // MISTAKE: the same by adoption
  (void)launch(list, kernel, {}, context);               // MISTAKE: an owner as a kernel argument
  (void)launch(list, kernel, {}, list);                  // MISTAKE: a handle that no kernel takes
  (void)launch(list, kernel, {}, handle);                // MISTAKE: the same, raw
  (void)list.wait({Event()});                            // MISTAKE: a wait for an event that is gone at once
  (void)list.wait({event, event, event, event, event});  // MISTAKE: more by name than are kept inside
  [[maybe_unused]] const CheckedKernel& kernel8 = OwnKernel();  // MISTAKE: a kernel that outlives its owner
  [[maybe_unused]] const OpenDevice& device9 = LentDevice().get();  // MISTAKE: the same of a device
#endif
  (void)handle;
}

}  // namespace kiln
