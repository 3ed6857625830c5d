// SPDX-License-Identifier: MIT
#include "drivers/layer/capture/launch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "binary/constant_sizes.hpp"
#include "drivers/layer/capture/describe.hpp"
#include "drivers/layer/capture/file.hpp"
#include "drivers/layer/capture/hooks.hpp"
#include "drivers/layer/explain.hpp"
#include "drivers/layer/known.hpp"
#include "drivers/layer/real_driver.hpp"
#include "drivers/layer/settings.hpp"
#include "drivers/layer/tell.hpp"
#include "support/json.hpp"
#include "support/limits.hpp"

namespace kiln::layer::capture {

namespace {

using detail::Json;

/// Behind Lock::capture. Never destroyed: calls come until the process is gone.
struct State {
  std::vector<std::shared_ptr<Captured>> waiting;           // in the order of the launches
  std::unordered_map<std::string, std::uint64_t> launches;  // by the kernel's name
  std::unordered_set<std::string> refused;                  // kernels
  std::uint64_t numbers = 0, modules = 0, captured = 0, lost = 0;
  std::uint64_t bytes = 0;  // of modules and memory, in the file or on their way to it
};

std::atomic<bool> here = true;  // false in a child of fork(): its devices are gone
std::atomic<std::size_t> unwritten = 0;

State& state();

void say_captured() {
  if (!is_capturing()) return;
  State& all = state();
  const std::lock_guard lock(mutex_of(Lock::capture));
  const auto lost = all.lost + static_cast<std::uint64_t>(std::ranges::count_if(
                                   all.waiting, [](const auto& each) { return !each->written; }));
  std::string text = all.captured == 0
                         ? "nothing was captured"
                         : std::to_string(all.captured) +
                               (all.captured == 1 ? " launch or build is" : " launches and builds are") +
                               " in " + settings().capture;
  if (lost) text += "; of " + std::to_string(lost) + " the end was not seen";
  say(text);
}

State& state() {
  static State* const all = [] {
    auto* made = new State;
    std::atexit(say_captured);
    return made;
  }();
  return *all;
}

constexpr const char* kChooseAnother =
    "choose another kernel or launch: --capture-kernel NAME, --capture-launch N";

constexpr const char* kLostBefore = "the device was lost before its memory was copied";

/// K0261: a launch or a build that is not in the file, and why.
void tell_not_captured(const std::string& what, std::string why, const char* help = kChooseAnother) {
  tell_once(Diagnostic{"K0261", what + " is not captured", {{"reason", std::move(why)}}, {help}});
}

std::string code_text(ze_result_t code) { return result_name(code); }

std::uint64_t room_left(const State& all) {
  return settings().capture_limit - std::min(all.bytes, settings().capture_limit);
}

/// Room for the module, which stays taken; false: there is none. `kiln replay` reads what is below the limit.
bool take_room(State& all, Source& source) {
  if (source.counted) return true;
  if (source.code.size() > room_left(all)) return false;
  all.bytes += source.code.size();
  return source.counted = true;
}

/// Why something is not in the file. `what` has so many bytes.
std::string no_room(const State& all, const char* what, std::uint64_t bytes) {
  return std::string(what) + " has " + std::to_string(bytes) + " bytes, and of " +
         std::to_string(settings().capture_limit) + " there are " + std::to_string(all.bytes) + " in use";
}

constexpr const char* kAllowMore =
    "allow for more: --capture-limit MIB; or choose one kernel: --capture-kernel NAME";

/// Not to be written to by anybody while it is: under the mutex.
bool write_entry(State& all, Source& source, Json& entry, std::vector<CaptureMember> members,
                 std::uint64_t number) {
  const detail::NoFileSizeSignal no_signal;
  if (!take_room(all, source)) {
    tell_not_captured("entry " + std::to_string(number), no_room(all, "its module", source.code.size()),
                      kAllowMore);
    return false;
  }
  const bool first = source.member.empty();
  const std::string module = first ? "m" + std::to_string(all.modules + 1) : source.member;
  if (first) members.insert(members.begin(), {module, source.code});
  entry["module"]["file"] = module;
  const std::string text = entry.dump();
  // Last: what has no description was not written to its end.
  members.push_back({std::to_string(number) + ".json", std::as_bytes(std::span(text))});
  if (std::string why = add_to_capture(settings().capture, members); !why.empty()) {
    tell_not_captured("entry " + std::to_string(number), "`" + settings().capture + "`: " + std::move(why),
                      "name a file in a folder that has room, of this program alone: --capture FILE");
    return false;
  }
  if (first) {
    source.member = module;
    ++all.modules;
  }
  ++all.captured;
  return true;
}

std::uint64_t bytes_of(const Captured& captured) {
  std::uint64_t bytes = 0;
  for (const Memory& each : captured.memories) bytes += 2 * each.size;
  return bytes;
}

/// Memory for the copies, and the event behind them. Empty: made.
std::string make_room(Captured& captured) {
  std::size_t size = 0;
  constexpr std::size_t kAlignment = 64;
  const auto place = [&](std::size_t bytes) {
    const std::size_t at = size;
    size += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  };
  std::vector<std::size_t> places;
  for (const Memory& each : captured.memories)
    for (int i = 0; i < 2; ++i) places.push_back(place(each.size));
  const ze_context_handle_t context = captured.source->context;
  ze_host_mem_alloc_desc_t memory{};
  memory.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
  ze_event_pool_desc_t pool{};
  pool.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
  pool.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
  pool.count = 2;
  ze_event_desc_t event{};
  event.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
  event.signal = ZE_EVENT_SCOPE_FLAG_HOST;
  ze_result_t code =
      next.zeMemAllocHost(context, &memory, std::max(size, kAlignment), kAlignment, &captured.staging);
  if (code != ZE_RESULT_SUCCESS)
    return "memory for " + std::to_string(size) + " bytes of copies: zeMemAllocHost gave " + code_text(code);
  code = next.zeEventPoolCreate(context, &pool, 1, &captured.source->device, &captured.pool);
  if (code == ZE_RESULT_SUCCESS) code = next.zeEventCreate(captured.pool, &event, &captured.copied);
  event.index = 1;
  if (code == ZE_RESULT_SUCCESS) code = next.zeEventCreate(captured.pool, &event, &captured.done);
  if (code != ZE_RESULT_SUCCESS) return "events for its end: the driver gave " + code_text(code);
  auto* staging = static_cast<std::byte*>(captured.staging);
  for (std::size_t i = 0; i < captured.memories.size(); ++i) {
    Memory& each = captured.memories[i];
    each.before = {staging + places[2 * i], each.size};
    each.after = {staging + places[2 * i + 1], each.size};
  }
  return {};
}

ze_result_t append_copies(const Captured& captured, std::span<std::byte> Memory::*to) {
  for (const Memory& each : captured.memories)
    if (const auto code = next.zeCommandListAppendMemoryCopy(captured.list, (each.*to).data(), each.begin,
                                                             each.size, nullptr, 0, nullptr);
        code != ZE_RESULT_SUCCESS)
      return code;
  return ZE_RESULT_SUCCESS;
}

ze_result_t append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal, std::uint32_t waits,
                           ze_event_handle_t* events) {
  return next.zeCommandListAppendBarrier(list, signal, waits, events);
}

enum class Copies : std::uint8_t { none, before, both };

/// Under the mutex. Without copies: of a launch that was refused.
void write(State& all, Captured& captured, Copies copies) {
  captured.written = true;
  Json memories = Json::array();
  std::vector<CaptureMember> members;
  for (std::size_t i = 0; i < captured.memories.size(); ++i) {
    const Memory& each = captured.memories[i];
    Json memory{{"kind", kind_text(each.type)}, {"size", each.size}};
    const std::string name = std::to_string(captured.number) + "-" + std::to_string(i);
    if (copies != Copies::none) {
      memory["before"] = name + ".b";
      members.push_back({name + ".b", each.before});
      if (copies == Copies::both && !std::ranges::equal(each.before, each.after)) {
        memory["after"] = name + ".a";
        members.push_back({name + ".a", each.after});
      }
    }
    memories.push_back(std::move(memory));
  }
  captured.entry["memory"] = std::move(memories);
  captured.entry["ended"] = copies == Copies::both;
  if (!write_entry(all, *captured.source, captured.entry, std::move(members), captured.number)) ++all.lost;
}

bool is_signalled(ze_event_handle_t event) { return next.zeEventQueryStatus(event) == ZE_RESULT_SUCCESS; }

void give_up(State& all, Captured& captured) {
  captured.written = true;
  --unwritten;
  all.bytes -= bytes_of(captured);
}

void write_finished(State& all) {
  for (const auto& each : all.waiting)
    if (!each->written && is_signalled(each->done)) {
      --unwritten;
      write(all, *each, Copies::both);
    }
}

/// What the driver says; UNINITIALIZED where there is none to ask.
ze_result_t status_of(ze_device_handle_t device) {
  const Api* const api = real_api();
  return api ? DeviceRef(device, *api).status() : ZE_RESULT_ERROR_UNINITIALIZED;
}

/// Immediate lists of Intel's drivers call the loss of a device lack of memory.
bool is_lost(ze_result_t code, ze_device_handle_t device) {
  return code == ZE_RESULT_ERROR_DEVICE_LOST || status_of(device) == ZE_RESULT_ERROR_DEVICE_LOST;
}

/// What was begun on the device that is lost, and not ended: the memory before it is there. Others go on.
void write_begun(State& all) {
  for (const auto& each : all.waiting)
    if (!each->written && status_of(each->source->device) != ZE_RESULT_SUCCESS &&
        is_signalled(each->copied)) {
      --unwritten;
      each->entry["result"] = static_cast<std::uint32_t>(ZE_RESULT_ERROR_DEVICE_LOST);
      write(all, *each, Copies::before);
    }
}

void drop(State& all, ze_command_list_handle_t list, ze_context_handle_t context) {
  write_finished(all);
  std::erase_if(all.waiting, [&](const auto& each) {
    if (each->list != list && each->source->context != context) return false;
    if (!each->written) {
      give_up(all, *each);
      ++all.lost;
    }
    return true;
  });
}

std::string name_of(const CapturedKernel& kernel, std::uint64_t of_kernel) {
  return "launch " + std::to_string(of_kernel) + " of `" + kernel.name + "`";
}

/// As the library's check sees it.
bool would_fit(const Launch& launch, const CapturedKernel& kernel) {
  if (kernel.group_size == Extent{0, 0, 0}) return true;
  std::vector<KnownArgument> arguments;
  for (const Argument& each : kernel.arguments) {
    KnownArgument one;
    if (each.set) one.size = each.size;
    one.null = !each.value;
    arguments.push_back(one);
  }
  const auto& groups = launch.groups;
  return layer::would_fit(launch.kernel,
                          {{groups.groupCountX, groups.groupCountY, groups.groupCountZ}, kernel.group_size},
                          arguments);
}

Begun prepare(const Launch& launch, const CapturedKernel& kernel) {
  State& all = state();
  const std::lock_guard lock(mutex_of(Lock::capture));
  std::uint64_t& of_kernel = all.launches[kernel.name];
  if (++of_kernel != settings().capture_launch) return {nullptr, true};
  if (launch.not_kept) return {nullptr, true, launch.not_kept};
  if (!would_fit(launch, kernel))
    return {nullptr, true, "the library would refuse it, and the driver was expected to"};
  auto captured = std::make_shared<Captured>();
  captured->list = launch.list;
  std::string why = describe(*captured, launch, kernel, of_kernel);
  const std::uint64_t bytes = bytes_of(*captured);
  const char* help = kChooseAnother;
  if (why.empty() && bytes > room_left(all)) {
    why = no_room(all, "its memory, before and after,", bytes);
    help = kAllowMore;
  } else if (why.empty() && captured->source->code.size() > room_left(all) - bytes &&
             !captured->source->counted) {
    why = no_room(all, "its module", captured->source->code.size());
    help = kAllowMore;
  }
  if (why.empty()) why = make_room(*captured);
  if (!why.empty()) {
    tell_not_captured(name_of(kernel, of_kernel), std::move(why), help);
    return {nullptr, true};
  }
  all.waiting.push_back(captured);  // from here on its memory belongs to the list, whatever comes
  ++unwritten;
  all.bytes += bytes;
  static_cast<void>(take_room(all, *captured->source));
  captured->number = ++all.numbers;
  return {std::move(captured), true};
}

/// A launch that did not come to be does not count. Under the mutex.
void take_back(State& all, const std::string& kernel) { --all.launches[kernel]; }

/// What the code says comes from the driver, which may fork: before the mutex.
void read_facts(const Launch& launch) {
  const KnownKernel* const of_layer = known.kernels.find(launch.kernel);
  if (of_layer && of_layer->module) static_cast<void>(of_layer->module->facts());
}

}  // namespace

bool is_capturing() { return here.load(std::memory_order_relaxed) && !settings().capture.empty(); }

void forget_captures() { here = false; }

std::shared_ptr<Source> source_of(ze_context_handle_t context, ze_device_handle_t device,
                                  const ze_module_desc_t& description) {
  auto source = std::make_shared<Source>();
  source->context = context;
  source->device = device;
  source->format = description.format;
  if (description.pInputModule && !description.pNext) {
    const auto* code = reinterpret_cast<const std::byte*>(description.pInputModule);
    source->code.assign(code, code + description.inputSize);
  }
  if (description.pBuildFlags) source->flags = description.pBuildFlags;
  const ze_module_constants_t* const constants = description.pConstants;
  if (!constants || !constants->pConstantIds || !constants->pConstantValues) return source;
  const auto sizes = detail::constant_sizes(source->code);
  for (std::uint32_t i = 0; i < constants->numConstants; ++i) {
    SpecializationConstant constant{constants->pConstantIds[i], 0};
    const auto size = sizes.find(constant.id);
    if (size == sizes.end() || size->second > sizeof constant.value || !constants->pConstantValues[i])
      continue;
    std::memcpy(&constant.value, constants->pConstantValues[i], size->second);
    source->constants.push_back(constant);
  }
  return source;
}

bool is_chosen(const std::string& name) {
  const auto& kernels = settings().capture_kernels;
  return kernels.empty() || std::ranges::find(kernels, name) != kernels.end();
}

Begun begin(const Launch& launch, std::uint32_t waits, ze_event_handle_t* events) {
  const CapturedKernel* const kernel = objects.kernels.find(launch.kernel);
  if (!kernel || !kernel->chosen || !is_capturing() || (waits && !events)) return {};
  Begun begun;
  quietly([&] {
    read_facts(launch);
    begun = prepare(launch, *kernel);
  });
  if (!begun.captured) return begun;
  Captured& captured = *begun.captured;
  ze_result_t code = append_barrier(launch.list, nullptr, waits, events);
  if (code == ZE_RESULT_SUCCESS) code = append_copies(captured, &Memory::before);
  if (code == ZE_RESULT_SUCCESS) code = append_barrier(launch.list, captured.copied, 0, nullptr);
  if (code == ZE_RESULT_SUCCESS) return begun;
  quietly([&] {
    State& all = state();
    const std::lock_guard lock(mutex_of(Lock::capture));
    give_up(all, captured);
    tell_not_captured("`" + kernel->name + "`", is_lost(code, captured.source->device)
                                                    ? kLostBefore
                                                    : "copies before it: the driver gave " + code_text(code));
  });
  return {nullptr, true};
}

ze_result_t end(const std::shared_ptr<Captured>& captured, ze_result_t code, ze_event_handle_t signal) {
  if (code != ZE_RESULT_SUCCESS && is_lost(code, captured->source->device)) {
    noticed(ZE_RESULT_ERROR_DEVICE_LOST);
    quietly([&] {
      State& all = state();
      const std::lock_guard lock(mutex_of(Lock::capture));
      if (captured->written) return;
      give_up(all, *captured);
      tell_not_captured("`" + captured->entry["kernel"].get<std::string>() + "`", kLostBefore);
    });
    return code;
  }
  if (code != ZE_RESULT_SUCCESS) {
    quietly([&] {
      State& all = state();
      const std::lock_guard lock(mutex_of(Lock::capture));
      const auto kernel = captured->entry["kernel"].get<std::string>();
      give_up(all, *captured);
      take_back(all, kernel);
      if (!all.refused.insert(kernel).second) return;
      captured->entry["result"] = static_cast<std::uint32_t>(code);
      write(all, *captured, Copies::none);
    });
    return code;
  }
  ze_result_t copied = append_barrier(captured->list, nullptr, 0, nullptr);
  if (copied == ZE_RESULT_SUCCESS) copied = append_copies(*captured, &Memory::after);
  if (copied == ZE_RESULT_SUCCESS) copied = append_barrier(captured->list, captured->done, 0, nullptr);
  // The program gets what it waits for in any case.
  if (signal) code = append_barrier(captured->list, signal, 0, nullptr);
  noticed(code);
  return code;
}

void tell_not_captured(const Launch& launch, const char* why) {
  const CapturedKernel* const kernel = objects.kernels.find(launch.kernel);
  if (kernel) quietly([&] { tell_not_captured(name_of(*kernel, settings().capture_launch), why); });
}

void write_refused_launch(const Launch& launch, ze_result_t code, bool counted) {
  const CapturedKernel* const kernel = objects.kernels.find(launch.kernel);
  if (!kernel || !is_capturing()) return;
  if (is_lost(code, kernel->source->device)) return noticed(ZE_RESULT_ERROR_DEVICE_LOST);
  if (!kernel->chosen) return;
  quietly([&] {
    read_facts(launch);
    State& all = state();
    const std::lock_guard lock(mutex_of(Lock::capture));
    if (counted) take_back(all, kernel->name);
    if (launch.not_kept || !all.refused.insert(kernel->name).second) return;
    Captured captured;
    if (!describe(captured, launch, *kernel, all.launches[kernel->name] + 1).empty()) return;
    captured.number = ++all.numbers;
    captured.entry["result"] = static_cast<std::uint32_t>(code);
    write(all, captured, Copies::none);
  });
}

void noticed(ze_result_t code) {
  if (unwritten.load(std::memory_order_relaxed) == 0 || !is_capturing()) return;
  if (code != ZE_RESULT_SUCCESS && code != ZE_RESULT_ERROR_DEVICE_LOST) return;
  quietly([&] {
    State& all = state();
    const std::lock_guard lock(mutex_of(Lock::capture));
    write_finished(all);
    if (code == ZE_RESULT_ERROR_DEVICE_LOST) write_begun(all);
  });
}

void note_submission(std::span<const ze_command_list_handle_t> lists) {
  if (unwritten.load(std::memory_order_relaxed) == 0 || !is_capturing()) return;
  quietly([&] {
    State& all = state();
    const std::lock_guard lock(mutex_of(Lock::capture));
    write_finished(all);
    for (const auto& each : all.waiting) {
      if (each->written || std::ranges::find(lists, each->list) == lists.end()) continue;
      if (each->submitted) {
        give_up(all, *each);
        tell_not_captured("`" + each->entry["kernel"].get<std::string>() + "`",
                          "its list was executed again before the program heard of its end");
      }
      each->submitted = true;
    }
  });
}

void drop_list(ze_command_list_handle_t list) {
  if (!list || !is_capturing()) return;
  quietly([&] {
    State& all = state();
    const std::lock_guard lock(mutex_of(Lock::capture));
    drop(all, list, nullptr);
  });
}

void drop_context(ze_context_handle_t context) {
  if (!context || !is_capturing()) return;
  quietly([&] {
    State& all = state();
    const std::lock_guard lock(mutex_of(Lock::capture));
    drop(all, nullptr, context);
  });
}

void write_refused_build(const char* call, ze_result_t code, Source& source, const char* kernel) {
  if (!is_capturing() || source.code.empty() || (kernel && !is_chosen(kernel))) return;
  State& all = state();
  const std::lock_guard lock(mutex_of(Lock::capture));
  const std::string_view text(reinterpret_cast<const char*>(source.code.data()), source.code.size());
  const std::string what = kernel ? kernel : std::to_string(std::hash<std::string_view>()(text));
  if (!all.refused.insert("build of " + what).second) return;
  Json entry = start_entry("build", call, source);
  entry["result"] = static_cast<std::uint32_t>(code);
  if (kernel) entry["kernel"] = kernel;
  static_cast<void>(write_entry(all, source, entry, {}, ++all.numbers));
}

}  // namespace kiln::layer::capture
