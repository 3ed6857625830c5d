// SPDX-License-Identifier: MIT
// Composes what a walker gives a thread. Source of the layout: the compiler's specification of `.ze_info` and
// Intel's Programmer's Reference Manuals (thread payloads of GPGPU_WALKER and COMPUTE_WALKER).
#include "xe/native/launch.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "xe/native/local_ids.hpp"

namespace kiln::xe {
namespace {

constexpr std::uint32_t kMostThreads = 128;       // of a group; as many of each worker have memory
constexpr std::uint32_t kScratchState = 0x400;    // bytes from the base of surface states
constexpr std::uint32_t kBindlessPitch = 0x1000;  // between the handles of bindless surfaces
constexpr std::uint64_t kMostSlm = 1 << 20;

void put(std::vector<std::byte>& to, std::size_t at, const void* from, std::size_t size) {
  if (to.size() < at + size) to.resize(at + size);
  if (size != 0) std::memcpy(to.data() + at, from, size);
}

std::uint32_t round_up(std::uint64_t value, std::uint64_t unit) {
  return static_cast<std::uint32_t>((value + unit - 1) / unit * unit);
}

template <class T>
std::array<std::uint32_t, 3> words(const std::array<T, 3>& from) {
  return {static_cast<std::uint32_t>(from[0]), static_cast<std::uint32_t>(from[1]),
          static_cast<std::uint32_t>(from[2])};
}

}  // namespace

bool NativeLaunch::allocate(Block& block, std::uint64_t size) {
  block.data = static_cast<std::byte*>(std::calloc(size, 1));
  block.size = block.data ? size : 0;
  return block.data != nullptr;
}

NativeLaunch::~NativeLaunch() {
  for (const Block* each : {&indirect_, &scratch_, &private_}) std::free(each->data);
}

Stretch NativeLaunch::reach(std::uint64_t address, bool write) const {
  for (const Block* each : {&indirect_, &scratch_, &private_})
    if (address >= each->address() && address - each->address() < each->size)
      return {each->data + (address - each->address()), each->size - (address - each->address())};
  return module_->reach(address, write);
}

tl::expected<std::unique_ptr<NativeLaunch>, std::string> NativeLaunch::make(
    std::shared_ptr<const NativeModule> module, std::size_t kernel, const NativeShape& shape,
    std::span<const NativeArgument> arguments, std::uint32_t workers) {
  std::unique_ptr<NativeLaunch> launch(new NativeLaunch);
  launch->kernel_ = &module->kernels()[kernel];
  if (!launch->kernel_->unsupported.empty())
    return tl::unexpected("kernel `" + launch->kernel_->name + "` asks for " + launch->kernel_->unsupported +
                          ", which the execution unit does not have");
  auto code = module->code(kernel);
  if (!code) return tl::unexpected(std::move(code).error());
  launch->code_ = std::move(*code);
  launch->module_ = std::move(module);
  launch->workers_ = std::clamp(workers, 1u, kMostWorkers);
  if (std::string why = launch->lay_out(shape, arguments); !why.empty())
    return tl::unexpected(std::move(why));
  return launch;
}

std::string NativeLaunch::lay_out(const NativeShape& shape, std::span<const NativeArgument> arguments) {
  const detail::KernelPayload& kernel = *kernel_;
  const std::uint64_t items = std::uint64_t{shape.local[0]} * shape.local[1] * shape.local[2];
  const std::uint64_t threads = (items + kernel.simd - 1) / kernel.simd;
  if (items == 0 || items > 1024 || threads > kMostThreads)
    return "groups of " + std::to_string(items) + " work-items do not fit the machine";
  items_ = static_cast<std::uint32_t>(items);
  threads_ = static_cast<std::uint32_t>(threads);

  for (const auto& each : kernel.surfaces)
    if (each.argument < arguments.size())
      surfaces_[{SurfaceKind::table, each.index}] = {.base = arguments[each.argument].address,
                                                     .size = (arguments[each.argument].bytes + 3) / 4 * 4};
  const std::uint32_t shares = kMostThreads * workers_;
  scratch_pitch_ = 1024;
  while (scratch_pitch_ < kernel.scratch_bytes) scratch_pitch_ *= 2;
  if (kernel.scratch_bytes != 0 || module_->is_older()) {
    if (!allocate(scratch_, std::uint64_t{scratch_pitch_} * shares)) return "there is no memory for scratch";
    surfaces_[{SurfaceKind::state, kScratchState}] = {
        .base = scratch_.address(), .size = scratch_.size, .thread_bytes = scratch_pitch_};
  }
  if (kernel.private_bytes != 0 && !allocate(private_, kernel.private_bytes * shares))
    return "there is no memory for private variables";

  std::array<std::uint64_t, 3> global{};
  std::uint32_t dimensions = 1;
  for (std::uint32_t i = 0; i < 3; ++i) {
    global[i] = std::uint64_t{shape.groups[i]} * shape.local[i];
    if (global[i] > 1) dimensions = i + 1;
  }
  const auto global_size = words(global), global_offset = words(shape.offset);
  std::uint64_t slm = kernel.slm;
  using Kind = detail::PayloadItem::Kind;
  for (const detail::PayloadItem& item : kernel.items) {
    const std::vector<std::byte> zeros(item.size);
    put(shared_, item.offset, zeros.data(), item.size);
    const bool is_argument = item.kind == Kind::value || item.kind == Kind::pointer ||
                             item.kind == Kind::local_pointer || item.kind == Kind::bindless;
    if (is_argument && item.argument >= arguments.size())
      return "argument " + std::to_string(item.argument) + " is not given";
    const NativeArgument none{}, &argument = is_argument ? arguments[item.argument] : none;
    const auto copy = [&](const void* from, std::size_t size) {
      std::memcpy(shared_.data() + item.offset, from, std::min<std::size_t>(size, item.size));
    };
    switch (item.kind) {
      case Kind::value:
        if (item.source < argument.value.size())
          copy(argument.value.data() + item.source, argument.value.size() - item.source);
        break;
      case Kind::local_pointer:
        slm = (slm + item.alignment - 1) / item.alignment * item.alignment;
        copy(&slm, sizeof slm);
        slm += std::min(argument.local_bytes, kMostSlm);
        break;
      case Kind::pointer:
        copy(&argument.address, sizeof argument.address);
        break;
      case Kind::bindless: {
        const std::uint64_t handle = (item.argument + 1) * std::uint64_t{kBindlessPitch};
        surfaces_[{SurfaceKind::bindless, static_cast<std::uint32_t>(handle)}] = {
            .base = argument.address, .size = (argument.bytes + 3) / 4 * 4};
        copy(&handle, sizeof handle);
        break;
      }
      case Kind::local_size:
        copy(shape.local.data(), 12);
        break;
      case Kind::group_count:
        copy(shape.groups.data(), 12);
        break;
      case Kind::global_size:
        copy(global_size.data(), 12);
        break;
      case Kind::global_offset:
        copy(global_offset.data(), 12);
        break;
      case Kind::dimensions:
        copy(&dimensions, sizeof dimensions);
        break;
      case Kind::private_base: {
        const std::uint64_t base = private_.address();
        copy(&base, sizeof base);
        break;
      }
      case Kind::zero:
        break;
    }
  }
  if (slm > kMostSlm) return "the work-group asks for more than 1 MiB of shared local memory";
  slm_ = round_up(slm, 1024);
  shared_.resize(round_up(std::max<std::size_t>(shared_.size(), kernel.inline_bytes), 32));

  if (kernel.id_bytes != 0) {
    const std::uint32_t row = round_up(2 * std::uint64_t{kernel.simd}, module_->register_bytes());
    const std::uint32_t rows = kernel.id_bytes / row;
    if (kernel.simd == 1 || rows * row != kernel.id_bytes || rows > 3)
      return "local ids of " + std::to_string(kernel.id_bytes) + " bytes do not fit " +
             std::to_string(kernel.simd) + " lanes";
    ids_ = local_ids(shape.local, 0, kernel.simd, threads_, module_->register_bytes(), (1u << rows) - 1);
  }
  if (module_->is_older()) return {};
  // From Xe-HP on: what is not inline lies in memory, the shared part first.
  const std::size_t rest = shared_.size() - kernel.inline_bytes;
  // Kernels load whole vectors of it, beyond its end.
  if (!allocate(indirect_, rest + ids_.size() + 4096)) return "there is no memory for arguments";
  std::copy(shared_.begin() + kernel.inline_bytes, shared_.end(), indirect_.data);
  std::ranges::copy(ids_, indirect_.data + rest);
  return {};
}

class NativeLaunch::Worker::View final : public Bus {
 public:
  View(const NativeLaunch& launch, Bus& outside) : launch_(launch), outside_(outside) {}
  Stretch reach(std::uint64_t address, bool write) override {
    const Stretch own = launch_.reach(address, write);
    return own.data ? own : outside_.reach(address, write);
  }
  std::optional<Surface> surface(SurfaceKind kind, std::uint32_t index) override {
    const auto found = launch_.surfaces_.find({kind, index});
    return found == launch_.surfaces_.end() ? std::nullopt : std::optional(found->second);
  }
  std::uint64_t general_state_base() override {
    return (launch_.module_->is_older() ? launch_.scratch_ : launch_.indirect_).address();
  }
  std::uint64_t ticks() override { return outside_.ticks(); }

 private:
  const NativeLaunch& launch_;
  Bus& outside_;
};

NativeLaunch::Worker::Worker(const NativeLaunch& launch, std::uint32_t number, Bus& outside,
                             const Limits& limits)
    : launch_(launch), view_(std::make_unique<View>(launch, outside)), starts_(launch.threads_) {
  const detail::KernelPayload& kernel = *launch.kernel_;
  const std::uint32_t bytes = launch.module_->register_bytes();
  group_ = {.register_bytes = bytes, .registers = kernel.registers, .slm_bytes = launch.slm_};
  group_.most_instructions = limits.instructions;
  group_.deadline = limits.deadline;
  group_.threads = starts_;
  const std::size_t id_bytes = launch.ids_.size() / launch.threads_;
  for (std::uint32_t thread = 0; thread < launch.threads_; ++thread) {
    ThreadStart& start = starts_[thread];
    start.number = (number % launch.workers_) * kMostThreads + thread;
    const std::uint32_t lanes = std::min(kernel.simd, launch.items_ - thread * kernel.simd);
    start.dispatch_mask = lanes >= 32 ? ~0U : (1U << lanes) - 1;
    std::array<std::uint32_t, 16> r0{};
    if (launch.module_->is_older()) {
      r0[5] = start.number * launch.scratch_pitch_ | start.number;
    } else {
      r0[2] = launch.threads_ << 24 | thread;
      r0[5] = kScratchState << 4 | start.number;
    }
    put(start.payload, 0, r0.data(), bytes);
    if (launch.module_->is_older()) {
      put(start.payload, bytes, launch.ids_.data() + thread * id_bytes, id_bytes);
      put(start.payload, bytes + id_bytes, launch.shared_.data(), launch.shared_.size());
    } else {
      put(start.payload, bytes, launch.shared_.data(), kernel.inline_bytes);
    }
  }
}

NativeLaunch::Worker::~Worker() = default;

std::optional<Fault> NativeLaunch::Worker::run(const std::array<std::uint32_t, 3>& group, Counts* counts) {
  constexpr std::array<std::size_t, 3> kPlaces{1, 6, 7};  // words of r0
  for (ThreadStart& start : starts_)
    for (std::size_t i = 0; i < 3; ++i) std::memcpy(start.payload.data() + 4 * kPlaces[i], &group[i], 4);
  return run_group(*launch_.code_, group_, *view_, counts);
}

}  // namespace kiln::xe
