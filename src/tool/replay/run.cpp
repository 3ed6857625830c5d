// SPDX-License-Identifier: MIT
// Builds what was built, launches what was launched, and compares what is in memory then.
#include <algorithm>
#include <iterator>

#include "kiln/build.hpp"
#include "kiln/cooperative.hpp"
#include "tool/kernel/signature.hpp"
#include "tool/replay/replay.hpp"

namespace kiln::tool {
namespace {

Result<Bundle> load(const OpenDevice& device, const CaptureEntry& entry) {
  BundleOptions options;
  options.flags = entry.flags;
  options.constants = entry.constants;
  if (entry.format == ModuleFormat::opencl_c) {
    // What the program asked is whether this driver takes it, and not whether ocloc does.
    const ModuleInput input{ModuleFormat::opencl_c, entry.code, entry.flags};
    const ModuleBuild build = build_module(device.driver, device.context.get(), device.device, {&input, 1});
    if (build.code() != ZE_RESULT_SUCCESS) return tl::unexpected(Error(build.code(), "zeModuleCreate"));
    std::string text(reinterpret_cast<const char*>(entry.code.data()), entry.code.size());
    text.resize(std::min(text.find('\0'), text.size()));
    return Bundle::compile(device, Source{entry.code_member + ".cl", std::move(text)}, options);
  }
  const std::string name = entry.code_member + (entry.format == ModuleFormat::native ? ".bin" : ".spv");
  return Bundle::load(device, {KernelFile{name, {entry.code.begin(), entry.code.end()}}}, options);
}

/// A launch's memory on this device.
struct Memories {
  std::vector<Buffer> buffers;
  std::vector<HostBuffer> staging;  // where the host cannot reach the buffer: through this

  [[nodiscard]] static Result<Memories> make(const OpenDevice& device, const CaptureEntry& entry);
  [[nodiscard]] Result<void> fill(CommandListRef list, const CaptureEntry& entry);
  /// Waits. What is in each.
  [[nodiscard]] Result<std::vector<std::span<const std::byte>>> read(CommandListRef list);
};

Result<Memories> Memories::make(const OpenDevice& device, const CaptureEntry& entry) {
  Memories made;
  const ContextRef context = device.context.get();
  for (const CapturedMemory& each : entry.memory) {
    Buffer buffer;
    if (each.kind == MemoryKind::device) {
      KILN_TRY(buffer, context.allocate_device(device.device, each.size));
    } else if (each.kind == MemoryKind::host) {
      KILN_TRY(buffer, context.allocate_host(each.size));
    } else {
      KILN_TRY(buffer, context.allocate_shared(device.device, each.size));
    }
    made.buffers.push_back(std::move(buffer));
    if (entry.end == CaptureEntry::End::refused) continue;
    KILN_TRY(auto staging, context.allocate_host(each.size));
    made.staging.push_back(std::move(staging));
  }
  return made;
}

Result<void> Memories::fill(CommandListRef list, const CaptureEntry& entry) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    std::ranges::copy(*entry.memory[i].before, static_cast<std::byte*>(staging[i].data()));
    KILN_TRY(list.copy(buffers[i], staging[i]));
  }
  KILN_TRY(list.barrier());
  return {};
}

Result<std::vector<std::span<const std::byte>>> Memories::read(CommandListRef list) {
  std::vector<std::span<const std::byte>> all;
  KILN_TRY(list.barrier());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    KILN_TRY(list.copy(staging[i], buffers[i]));
    all.push_back(std::as_bytes(staging[i].span<std::byte>()));
  }
  return all;
}

Result<void> set_offset(const OpenDevice& device, const CaptureEntry& entry, KernelRef kernel) {
  if (entry.offset == Extent{0, 0, 0}) return {};
  const auto set =
      device.driver.entry_point<decltype(&zeKernelSetGlobalOffsetExp)>("zeKernelSetGlobalOffsetExp");
  if (!set || (*set)(kernel.raw(), entry.offset.x, entry.offset.y, entry.offset.z) != ZE_RESULT_SUCCESS)
    return tl::unexpected(cannot_replay(entry, "it has a global offset, which this driver does not take",
                                        "replay it on the driver that it was captured from"));
  return {};
}

/// Values as long as the kernel takes them, where the driver took another length: it uses as much as fits,
/// and zeros where there is no value.
std::vector<std::vector<std::byte>> values_of(const CaptureEntry& entry, const KernelFacts& facts) {
  using Form = CapturedArgument::Form;
  std::vector<std::vector<std::byte>> values;
  for (std::size_t i = 0; i < entry.arguments.size(); ++i) {
    const CapturedArgument& each = entry.arguments[i];
    values.push_back(each.value);
    const std::uint32_t size = i < facts.arguments.size() ? facts.arguments[i].size : 0;
    const bool is_zero = each.form == Form::null || each.form == Form::unset;
    if (size > 0 && (each.form == Form::value || is_zero)) values.back().resize(size);
  }
  return values;
}

/// Arguments as the launch takes them; `pointers` are those of memory.
std::vector<LaunchArgument> arguments_of(const CaptureEntry& entry, const KernelFacts& facts,
                                         const std::vector<void*>& pointers,
                                         const std::vector<std::vector<std::byte>>& values) {
  using Form = CapturedArgument::Form;
  std::vector<LaunchArgument> arguments;
  for (std::size_t i = 0; i < entry.arguments.size(); ++i) {
    const CapturedArgument& each = entry.arguments[i];
    const auto kind = i < facts.arguments.size() ? facts.arguments[i].kind : ArgumentKind::value;
    switch (each.form) {
      case Form::unset:
      case Form::null:
        if (kind == ArgumentKind::value && !values[i].empty())
          arguments.push_back({kind, values[i].size(), values[i].data()});
        else
          arguments.push_back({kind, kind == ArgumentKind::local_pointer ? 0 : sizeof(void*), nullptr});
        break;
      case Form::value:
        arguments.push_back({kind, values[i].size(), values[i].data()});
        break;
      case Form::local:
        arguments.push_back({ArgumentKind::local_pointer, each.local_bytes, nullptr});
        break;
      case Form::memory:
        arguments.push_back({kind, sizeof(void*), &pointers[i]});
        break;
    }
  }
  return arguments;
}

/// A part of a memory, and in what it is counted.
struct Part {
  std::uint64_t begin = 0, end = 0;
  ElementType type{Scalar::u8};
  std::string label{};
};

std::vector<Part> parts_of(const CaptureEntry& entry, std::size_t memory, const Signature& signature) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < entry.arguments.size() && i < signature.parameters.size(); ++i) {
    const CapturedArgument& argument = entry.arguments[i];
    if (argument.form != CapturedArgument::Form::memory || argument.memory != memory) continue;
    parts.push_back({argument.offset, 0, signature.parameters[i].element.value_or(ElementType{Scalar::u8}),
                     label_of(signature, i)});
  }
  std::ranges::stable_sort(parts, {}, &Part::begin);
  const auto same = std::unique(parts.begin(), parts.end(),
                                [](const Part& a, const Part& b) { return a.begin == b.begin; });
  parts.erase(same, parts.end());
  if (parts.empty() || parts.front().begin > 0) parts.insert(parts.begin(), Part());
  for (std::size_t i = 0; i < parts.size(); ++i)
    parts[i].end = i + 1 < parts.size() ? parts[i + 1].begin : entry.memory[memory].size;
  return parts;
}

std::optional<ReplayDifference> compare_part(std::size_t memory, const Part& part, const ElementType& type,
                                             std::span<const std::byte> got,
                                             std::span<const std::byte> wanted, Tolerance tolerance) {
  const std::uint64_t bytes = (part.end - part.begin) / type.size() * type.size();
  const auto as_array = [&](std::span<const std::byte> all) {
    const auto some = all.subspan(part.begin, bytes);
    return Array{type, {bytes / type.size()}, {some.begin(), some.end()}};
  };
  const Array expected = as_array(wanted);
  Difference difference = compare_arrays(as_array(got), expected, tolerance);
  if (difference.count == 0) return std::nullopt;
  return ReplayDifference{memory, part.label, expected.meant_numbers(), std::move(difference)};
}

/// One launch at a time, each on memory as it was.
Result<void> execute(const OpenDevice& device, const CaptureEntry& entry, const CheckedKernel& kernel,
                     std::span<const LaunchArgument> arguments, Memories& memories, std::uint32_t group,
                     std::uint32_t repeat, Replayed& replayed) {
  QueueOptions queue;
  queue.synchronous = true;
  KILN_TRY(const auto list,
           CommandListRef::create_immediate(device.context.get(), device.device, queue, group));
  KILN_TRY(const auto pool,
           EventPoolRef::create(device.context.get(), 1, {.host_visible = true, .timestamps = true}));
  KILN_TRY(const auto event, pool.get().event(0));
  replayed.host = std::chrono::nanoseconds::max();
  for (std::uint32_t i = 0; i < repeat; ++i) {
    KILN_TRY(memories.fill(list.get(), entry));
    KILN_TRY(event.get().reset());
    const auto start = std::chrono::steady_clock::now();
    const Launch launch{entry.groups, entry.group_size, Sync{event.get(), {}}};
    KILN_TRY(entry.cooperative ? launch_cooperative_with(list.get(), kernel, launch, arguments)
                               : launch_with(list.get(), kernel, launch, arguments));
    KILN_TRY(event.get().wait());
    const auto host = std::chrono::steady_clock::now() - start;
    if (device.kind == DeviceKind::capture) return {};
    if (host >= replayed.host) continue;
    replayed.host = host;
    KILN_TRY(replayed.on_device, event.get().kernel_duration(device.properties));
  }
  replayed.executed = true;
  return {};
}

/// As far as the driver is asked for a launch that it refused.
Result<void> append(const OpenDevice& device, const CaptureEntry& entry, const CheckedKernel& kernel,
                    std::span<const LaunchArgument> arguments, std::uint32_t group) {
  KILN_TRY(const auto list, CommandListRef::create(device.context.get(), device.device, group));
  const Launch launch{entry.groups, entry.group_size, {}};
  return entry.cooperative ? launch_cooperative_with(list.get(), kernel, launch, arguments)
                           : launch_with(list.get(), kernel, launch, arguments);
}

/// How far something came.
enum class Stage : std::uint8_t { module, kernel, preparation, launch };

Stage stage_of(const CaptureEntry& entry) {
  if (entry.is_launch) return Stage::launch;
  return entry.call == "zeModuleCreate" ? Stage::module : Stage::kernel;
}

Result<void> attempt(const OpenDevice& device, const CaptureEntry& entry, std::uint32_t repeat,
                     Tolerance tolerance, Stage& stage, Replayed& replayed) {
  const auto start = std::chrono::steady_clock::now();
  KILN_TRY(auto bundle, load(device, entry));
  replayed.build = std::chrono::steady_clock::now() - start;
  if (entry.kernel.empty()) return {};
  stage = Stage::kernel;
  KILN_TRY(const CheckedKernel* const kernel, bundle.kernel(entry.kernel));
  if (!entry.is_launch) return {};
  stage = Stage::preparation;
  KILN_TRY(auto memories, Memories::make(device, entry));
  std::vector<void*> pointers;
  for (const CapturedArgument& each : entry.arguments)
    pointers.push_back(each.form == CapturedArgument::Form::memory
                           ? static_cast<std::byte*>(memories.buffers[each.memory].data()) + each.offset
                           : nullptr);
  const auto values = values_of(entry, kernel->facts());
  const auto arguments = arguments_of(entry, kernel->facts(), pointers, values);
  KILN_TRY(set_offset(device, entry, kernel->kernel()));
  KILN_TRY(const auto group, device.device.compute_queue_group());
  stage = Stage::launch;
  if (entry.end == CaptureEntry::End::refused) return append(device, entry, *kernel, arguments, group);
  KILN_TRY(execute(device, entry, *kernel, arguments, memories, group, repeat, replayed));
  if (!replayed.executed || entry.end != CaptureEntry::End::ended) return {};
  const bool spirv = entry.format == ModuleFormat::spirv;
  const Signature signature =
      signature_of(kernel->facts(), spirv ? entry.code : std::span<const std::byte>());
  KILN_TRY(const auto list, CommandListRef::create_immediate(device.context.get(), device.device,
                                                             {.synchronous = true}, group));
  KILN_TRY(const auto after, memories.read(list.get()));
  for (std::size_t i = 0; i < after.size(); ++i)
    std::ranges::move(compare_memory(entry, i, after[i], signature, tolerance),
                      std::back_inserter(replayed.differences));
  return {};
}

}  // namespace

Error cannot_replay(const CaptureEntry& entry, std::string reason, std::string help) {
  return Error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "replay",
               {"K0455",
                "launch " + std::to_string(entry.number) + " of the file cannot be replayed here",
                {{"reason", std::move(reason)}},
                {std::move(help)}});
}

std::vector<ReplayDifference> compare_memory(const CaptureEntry& entry, std::size_t memory,
                                             std::span<const std::byte> got, const Signature& signature,
                                             Tolerance tolerance) {
  std::vector<ReplayDifference> all;
  const std::span<const std::byte> wanted = *entry.memory[memory].after;
  for (Part& part : parts_of(entry, memory, signature)) {
    const std::size_t size = part.end - part.begin;
    if (std::ranges::equal(got.subspan(part.begin, size), wanted.subspan(part.begin, size))) continue;
    auto difference = compare_part(memory, part, part.type, got, wanted, tolerance);
    // What the type does not see: bits of NaNs and zeros, what fills up vectors, and an end that holds no
    // element.
    const ElementType byte{Scalar::u8};
    if (!difference && tolerance.value == 0) difference = compare_part(memory, part, byte, got, wanted, {});
    if (!difference && tolerance.value > 0) {
      part.begin = part.end - size % part.type.size();
      difference = compare_part(memory, part, byte, got, wanted, {});
    }
    if (difference) all.push_back(*std::move(difference));
  }
  return all;
}

Replayed replay_entry(const OpenDevice& device, const CaptureEntry& entry, std::uint32_t repeat,
                      Tolerance tolerance) {
  Replayed replayed;
  Stage stage = Stage::module;
  if (auto done = attempt(device, entry, repeat, tolerance, stage, replayed); !done) {
    const Diagnostic* const why = done.error().diagnostic();
    replayed.lost = done.error().code() == ZE_RESULT_ERROR_DEVICE_LOST || (why && why->code == "K0220");
    replayed.same = done.error().code() == entry.result && stage == stage_of(entry) &&
                    (!replayed.lost || entry.result == ZE_RESULT_ERROR_DEVICE_LOST);
    replayed.refused = std::move(done).error();
    return replayed;
  }
  replayed.same = entry.result == ZE_RESULT_SUCCESS && replayed.differences.empty();
  return replayed;
}

}  // namespace kiln::tool
