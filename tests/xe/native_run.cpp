// SPDX-License-Identifier: MIT
// Buffers at addresses of their own, and launches one group after another.
#include "xe/native_run.hpp"

#include <algorithm>

#include "xe/native/launch.hpp"

namespace kiln::test {

std::uint64_t FlatBus::add(std::uint64_t size) {
  const std::uint64_t address = next_;
  next_ += (size + 0x1fff) / 0x1000 * 0x1000 + 0x10000;
  buffers_[address].resize((size + 0xfff) / 0x1000 * 0x1000);
  return address;
}
std::span<std::byte> FlatBus::bytes(std::uint64_t address) { return buffers_.at(address); }

xe::Stretch FlatBus::reach(std::uint64_t address, bool) {
  auto found = buffers_.upper_bound(address);
  if (found == buffers_.begin()) return {};
  --found;
  const std::uint64_t within = address - found->first;
  if (within >= found->second.size()) return {};
  return {found->second.data() + within, found->second.size() - within};
}
std::optional<xe::Surface> FlatBus::surface(xe::SurfaceKind kind, std::uint32_t index) {
  const auto found = surfaces_.find({kind, index});
  return found == surfaces_.end() ? std::nullopt : std::optional(found->second);
}

namespace {

// Read once: most tests launch many kernels of a file, and many times.
const auto& module_of(const Target& target, std::span<const std::byte> file) {
  static std::map<std::pair<const Target*, std::vector<std::byte>>,
                  decltype(xe::NativeModule::read(target, file))>
      kept;
  const std::pair key(&target, std::vector(file.begin(), file.end()));
  const auto found = kept.find(key);
  return found != kept.end() ? found->second
                             : kept.emplace(key, xe::NativeModule::read(target, file)).first->second;
}

}  // namespace

std::optional<std::string> run_native(std::span<const std::byte> file, std::string_view product,
                                      std::string_view name, const Launch& launch,
                                      std::vector<Argument>& arguments) {
  const Target* target = find_target(product);
  if (!target) return "there is no product " + std::string(product);
  const auto& module = module_of(*target, file);
  if (!module) return module.error();
  const auto kernels = (*module)->kernels();
  const auto kernel = std::ranges::find(kernels, name, &kiln::detail::KernelPayload::name);
  if (kernel == kernels.end()) return "there is no kernel " + std::string(name);

  FlatBus bus;
  std::vector<xe::NativeArgument> given(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    given[i] = {.value = arguments[i].value, .local_bytes = arguments[i].local_bytes};
    if (!arguments[i].buffer) continue;
    given[i].address = bus.add(std::max<std::size_t>(1, arguments[i].value.size()));
    given[i].bytes = arguments[i].value.size();
    std::ranges::copy(arguments[i].value, bus.bytes(given[i].address).begin());
  }
  xe::NativeShape shape{.local = launch.local};
  for (std::size_t i = 0; i < 3; ++i) shape.groups[i] = launch.global[i] / launch.local[i];
  const auto made =
      xe::NativeLaunch::make(*module, static_cast<std::size_t>(kernel - kernels.begin()), shape, given, 1);
  if (!made) return made.error();
  xe::NativeLaunch::Worker worker(**made, 0, bus, {.instructions = launch.most_instructions});
  for (std::uint32_t z = 0; z < shape.groups[2]; ++z)
    for (std::uint32_t y = 0; y < shape.groups[1]; ++y)
      for (std::uint32_t x = 0; x < shape.groups[0]; ++x)
        if (const auto fault = worker.run({x, y, z}, launch.counts)) return fault->text;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].buffer)
      std::copy_n(bus.bytes(given[i].address).begin(), arguments[i].value.size(), arguments[i].value.begin());
  return std::nullopt;
}

}  // namespace kiln::test
