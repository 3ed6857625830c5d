// SPDX-License-Identifier: MIT
// Why a call is refused, in the words of the library.
#pragma once

#include <level_zero/ze_api.h>

#include <optional>
#include <span>
#include <string>

#include "drivers/layer/known.hpp"
#include "kiln/allocation.hpp"
#include "kiln/check.hpp"
#include "kiln/diagnostic.hpp"

namespace kiln::layer {

/// A call that the driver refused.
struct Failed {
  ze_result_t code = ZE_RESULT_ERROR_UNKNOWN;
  const char* call = "";
  bool no_wait_list = false;  ///< a number of events was given, and none
};

/// K0260: what the code means, where nothing more is known.
[[nodiscard]] Diagnostic explain_code_alone(const Failed& failed);

/// The text that the driver has for its last failure on this thread; empty: it has none.
[[nodiscard]] std::string last_error_text() noexcept;

// Of a kernel that is not known, such as one made before: the code alone.
[[nodiscard]] Diagnostic explain_launch(const Failed& failed, ze_kernel_handle_t kernel,
                                        const Extent& groups);
[[nodiscard]] Diagnostic explain_group_size(const Failed& failed, ze_kernel_handle_t kernel,
                                            const Extent& size);
[[nodiscard]] Diagnostic explain_argument(const Failed& failed, ze_kernel_handle_t kernel,
                                          std::uint32_t index, std::size_t size, const void* value);

/// Would the library send such a launch? True where too little is known. Throws bad_alloc alone.
[[nodiscard]] bool would_fit(ze_kernel_handle_t kernel, const LaunchShape& shape,
                             std::span<const KnownArgument> arguments);

/// `log` and `text`: what the build log says, and the driver's last error where this call changed it.
[[nodiscard]] Diagnostic explain_module(const Failed& failed, KnownModule& module,
                                        const ze_module_desc_t* description, const std::string& log,
                                        const std::string& text);
[[nodiscard]] Diagnostic explain_link(const Failed& failed, std::uint32_t modules, const std::string& log);
[[nodiscard]] Diagnostic explain_kernel(const Failed& failed, ze_module_handle_t module, const char* name,
                                        const std::string& text);

[[nodiscard]] Diagnostic explain_allocation(const Failed& failed, ze_device_handle_t device,
                                            const AllocationRequest& request);
[[nodiscard]] Diagnostic explain_event_pool(const Failed& failed, std::uint32_t count);
[[nodiscard]] Diagnostic explain_queue(const Failed& failed, ze_device_handle_t device);
/// Of a submission, an append, or a wait. The device is that of a list or queue; null: not known.
[[nodiscard]] Diagnostic explain_submission(const Failed& failed, ze_device_handle_t device);

}  // namespace kiln::layer
