// SPDX-License-Identifier: MIT
// `--capture`: a launch with all that it takes, and what was in its memory before and after.
#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drivers/layer/handle_map.hpp"
#include "kiln/extent.hpp"
#include "kiln/module.hpp"

namespace kiln::layer::capture {

/// From what a module was made.
struct Source {
  ze_context_handle_t context = nullptr;
  ze_device_handle_t device = nullptr;
  ze_module_format_t format = ZE_MODULE_FORMAT_IL_SPIRV;
  std::vector<std::byte> code;  ///< empty: several inputs, which are not captured
  std::string flags;
  std::vector<SpecializationConstant> constants;
  std::atomic<bool> linked = false;  ///< with others, after it was made
  std::string member;                ///< of the archive; empty: not written yet
  bool counted = false;              ///< as a part of what the limit allows
};
[[nodiscard]] std::shared_ptr<Source> source_of(ze_context_handle_t context, ze_device_handle_t device,
                                                const ze_module_desc_t& description);

struct Argument {
  bool set = false;
  std::size_t size = 0;                         ///< bytes
  std::optional<std::vector<std::byte>> value;  ///< nothing: it was null
};

/// The state that a kernel's launches take. One thread at a time, like the kernel.
struct CapturedKernel {
  std::shared_ptr<Source> source;
  std::string name;
  bool chosen = false;
  std::vector<Argument> arguments;
  Extent group_size{0, 0, 0};
  Extent offset{0, 0, 0};
  ze_kernel_indirect_access_flags_t indirect = 0;
};
/// Of the program's modules and kernels, by their handles.
struct CapturedModule {
  std::shared_ptr<Source> source;
};
struct Objects {
  HandleMap<CapturedModule> modules{Lock::captured_modules};
  HandleMap<CapturedKernel> kernels{Lock::captured_kernels};
};
inline constinit Objects objects{};

/// Is a kernel of that name to be captured?
[[nodiscard]] bool is_chosen(const std::string& name);

/// A launch that is being captured.
struct Captured;
struct Launch {
  const char* call = "";
  ze_command_list_handle_t list = nullptr;
  ze_kernel_handle_t kernel = nullptr;
  ze_group_count_t groups{0, 0, 0};
  bool cooperative = false;
  const char* not_kept = nullptr;  ///< what it has that is not kept; null: nothing
};
struct Begun {
  std::shared_ptr<Captured> captured{};  ///< null: nothing was appended that matters
  bool counted = false;                  ///< as one of the kernel's launches
  const char* why_not = nullptr;         ///< to be told should the driver take it; null: nothing to tell
};
/// Appends copies of the memory that the launch may reach, behind what it waits for, where it is one of the
/// chosen, can be captured, and would be sent by the library: what the driver refuses must leave nothing in
/// the list that waits.
[[nodiscard]] Begun begin(const Launch& launch, std::uint32_t waits, ze_event_handle_t* events);
/// The same behind the launch, which answered `code`; then the event that the program waits for.
[[nodiscard]] ze_result_t end(const std::shared_ptr<Captured>& captured, ze_result_t code,
                              ze_event_handle_t signal);

/// K0261.
void tell_not_captured(const Launch& launch, const char* why);

/// Writes a launch that was not captured, and that the driver refused: without memory, once a kernel. Of a
/// lost device that is noticed(), and no refusal.
void write_refused_launch(const Launch& launch, ze_result_t code, bool counted);

/// The program hears of its device: writes what that is done with, and once the device is lost also what was
/// under way, with the memory before it.
void noticed(ze_result_t code);
/// Lists are submitted. What one of them is still captured for is written, or lost: its copies are of another
/// turn from then on.
void note_submission(std::span<const ze_command_list_handle_t> lists);
/// Before a list is destroyed or emptied, or a context destroyed: what was not written by then is lost.
void drop_list(ze_command_list_handle_t list);
void drop_context(ze_context_handle_t context);

/// Writes what was to be built, and was refused; `kernel`: that of a module that was built.
void write_refused_build(const char* call, ze_result_t code, Source& source, const char* kernel);

/// In a child of fork(): its devices are gone.
void forget_captures();

/// Is anything to be captured in this process?
[[nodiscard]] bool is_capturing();

}  // namespace kiln::layer::capture
