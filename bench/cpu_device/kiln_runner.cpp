// SPDX-License-Identifier: MIT
// Runs a case through Kiln on the CPU device, from SPIR-V or the kernel cache.
#include <cstring>

#include "case.hpp"
#include "kiln/kiln.hpp"

namespace kiln::bench {
namespace {

class KilnRunner : public Runner {
 public:
  Result<void> open(const Case& what, const std::string& flags) {
    auto device = open_device({DeviceKind::cpu, {}});
    if (!device) return tl::unexpected(std::move(device).error());
    device_ = *std::move(device);
    auto file = read_kernel_file(std::string(what.own ? KILN_BENCH_OWN : KILN_BENCH_SPIRV) + "/" + what.file +
                                 ".spv");
    if (!file) return tl::unexpected(std::move(file).error());
    const auto settings = cache_options();
    if (!settings) return tl::unexpected(settings.error());
    cache_ = Cache::open(*settings);
    std::vector<KernelFile> files;
    files.push_back(*std::move(file));
    auto bundle = Bundle::load(*device_, std::move(files), {.flags = flags, .only_spirv = true}, &*cache_);
    if (!bundle) return tl::unexpected(std::move(bundle).error());
    bundle_ = *std::move(bundle);
    auto kernel = bundle_->kernel(what.kernel);
    if (!kernel) return tl::unexpected(std::move(kernel).error());
    kernel_ = *kernel;
    for (const Bytes& bytes : what.buffers) {
      auto memory = device_->context.get().allocate_shared(device_->device, bytes.size());
      if (!memory) return tl::unexpected(std::move(memory).error());
      std::memcpy(memory->data(), bytes.data(), bytes.size());
      buffers_.push_back(*std::move(memory));
      addresses_.push_back(buffers_.back().data());
    }
    values_.resize(what.arguments.size());
    for (std::size_t i = 0; i < what.arguments.size(); ++i) {
      const Argument& argument = what.arguments[i];
      values_[i] = argument.number;
      if (argument.kind == Argument::Kind::buffer)
        arguments_.push_back({ArgumentKind::global_pointer, sizeof(void*), &addresses_[argument.number]});
      else if (argument.kind == Argument::Kind::value)
        arguments_.push_back({ArgumentKind::value, argument.size, &values_[i]});
      else
        arguments_.push_back({ArgumentKind::local_pointer, argument.number, nullptr});
    }
    launch_ = {{what.groups[0], what.groups[1]}, {what.group_size[0], what.group_size[1]}};
    auto list =
        CommandListRef::create_immediate(device_->context.get(), device_->device, {.synchronous = true});
    if (!list) return tl::unexpected(std::move(list).error());
    list_ = *std::move(list);
    return {};
  }

  bool run() override { return launch_with(list_.get(), *kernel_, launch_, arguments_).has_value(); }

  [[nodiscard]] std::string from() const override { return to_string(bundle_->origin()); }

  std::optional<Bytes> read(std::size_t index) override {
    const auto bytes = buffers_[index].span<std::byte>();
    return Bytes(bytes.begin(), bytes.end());
  }

 private:
  std::optional<OpenDevice> device_;  // before what is made on it
  std::optional<Cache> cache_;
  std::optional<Bundle> bundle_;
  CheckedKernel* kernel_ = nullptr;
  std::vector<HostBuffer> buffers_;
  std::vector<void*> addresses_;
  std::vector<std::uint64_t> values_;
  std::vector<LaunchArgument> arguments_;
  Launch launch_;
  CommandList list_;
};

}  // namespace

std::unique_ptr<Runner> run_with_kiln(const Case& what, std::string& why, const std::string& flags) {
  auto runner = std::make_unique<KilnRunner>();
  if (const auto opened = runner->open(what, flags); !opened) {
    why = opened.error().text();
    return nullptr;
  }
  return runner;
}

}  // namespace kiln::bench
