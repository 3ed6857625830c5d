// SPDX-License-Identifier: MIT
// From options to a kernel that can be launched, and from its memory to results.
#include "tool/run/file_run.hpp"

#include <algorithm>
#include <cstring>

#include "build/front_end.hpp"
#include "tool/arguments/usage.hpp"
#include "tool/kernel/npy.hpp"
#include "tool/samples/counters.hpp"

namespace kiln::tool {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr int kGuardByte = 0xa5;

/// Where Intel's driver without a GPU keeps a buffer from the host once it was submitted, nobody looks.
bool is_executed(const OpenDevice& device) { return device.kind != DeviceKind::capture; }

// Data above this are not made before the device has said that it takes them.
constexpr std::uint64_t kMuchData = std::uint64_t{64} << 20;  // bytes

Result<KernelFile> read_data(const std::string& path) {
  auto file = read_kernel_file(path);
  if (file) return file;
  const Diagnostic* why = file.error().diagnostic();
  const std::string reason = why && !why->rows.empty() ? why->rows.front().text : file.error().text();
  return tl::unexpected(bad_data(path, reason, "name a file of up to 1 GiB that may be read"));
}

/// Files of NumPy alone, each for one buffer, and none that the kernel is in.
Result<void> check_saves(const FileRequest& request) {
  std::vector<std::filesystem::path> files;
  for (const NamedText& each : request.saves) {
    const auto refuse = [&](const std::string& why, const std::string& help) {
      return tl::unexpected(
          bad_specification("`" + each.name + "` cannot be saved to `" + each.text + "`: " + why, {help}));
    };
    if (!each.text.ends_with(".npy"))
      return refuse("what a kernel writes is saved as a file of NumPy", "name it " + each.text + ".npy");
    std::error_code error;
    if (std::filesystem::equivalent(each.text, request.name.file, error))
      return refuse("the kernel is in that file", "name another");
    const auto file = std::filesystem::absolute(each.text, error).lexically_normal();
    if (std::ranges::find(files, file) != files.end())
      return refuse("another buffer is saved there", "name a file for each");
    files.push_back(file);
  }
  return {};
}

}  // namespace

Result<FileRequest> parse_file_request(const RunOptions& options) {
  if (options.size || options.slm || !options.bundle.empty())
    return tl::unexpected(
        usage_error("--size, --slm and --bundle are for samples, not for `" + options.kernel + "`",
                    {"the arguments of a kernel file say how large it is: --arg x=random:float:1000, --local "
                     "tile=4096"}));
  FileRequest request{parse_kernel_name(options.kernel)};
  for (const std::string& each : options.arguments) {
    KILN_TRY(auto one, parse_specification(each));
    if (one.form == Specification::Form::out && !one.path.empty())
      request.saves.push_back({one.argument, one.path});
    request.given.push_back(std::move(one));
  }
  for (const std::string& each : options.locals) {
    KILN_TRY(auto one, parse_local(each));
    request.given.push_back(std::move(one));
  }
  for (const std::string& each : options.saves) {
    KILN_TRY(auto one, parse_named("--save", each, "NAME=FILE.npy"));
    request.saves.push_back(std::move(one));
  }
  for (const std::string& each : options.expects) {
    KILN_TRY(auto one, parse_specification(each));
    request.expects.push_back(std::move(one));
  }
  if (!options.groups.empty()) {
    KILN_TRY(request.shape.groups, parse_extent_option("--groups", options.groups));
  }
  if (!options.group_extent.empty()) {
    KILN_TRY(request.shape.group, parse_extent_option("--group", options.group_extent));
  }
  if (!options.global.empty()) {
    KILN_TRY(request.shape.global, parse_extent_option("--global", options.global));
  }
  KILN_TRY(check_saves(request));
  request.tolerance.value = options.tolerance.value_or(0);
  request.flags = options.flags;
  request.seed = options.seed.value_or(1);
  return request;
}

Result<std::unique_ptr<FileRun>> FileRun::create(const OpenDevice& device, const FileRequest& request,
                                                 bool watched) {
  std::unique_ptr<FileRun> run(new FileRun(device, request));
  if (request.code) {
    run->code_ = *request.code;
  } else {
    KILN_TRY(run->code_, read_kernel(request.name, device, request.flags, watched));
  }
  const Signature& signature = run->code_.signature;
  // What the command line says is looked at before anything is compiled for the device; but which buffers the
  // device takes is known behind that.
  const auto made = made_bytes(signature, request.given);
  const bool is_much = std::ranges::any_of(made, [](std::uint64_t bytes) { return bytes > kMuchData; });
  if (is_much) {
    for (const std::uint64_t bytes : made)  // not touched: a device that does not have as much says so
      if (bytes > 0) {
        KILN_TRY(const auto tried, device.context.get().allocate_shared(device.device, bytes));
      }
    KILN_TRY(run->load(watched));
    if (std::ranges::max(made) > run->kernel_->home().largest_buffer)
      return tl::unexpected(detail::refuse_buffer(*run->kernel_, made));
  }
  KILN_TRY(run->bound_, bind_arguments(signature, request.given, request.seed, read_data));
  for (const NamedText& each : request.saves) {
    KILN_TRY(const auto place, place_of_argument(each.name, signature));
    if (!run->bound_[place].is_buffer())
      return tl::unexpected(
          wrong_arguments("argument `" + each.name + "` is no buffer, and cannot be saved", {}, signature));
    if (!run->bound_[place].save.empty())
      return tl::unexpected(wrong_arguments("argument `" + each.name + "` is saved twice: to `" +
                                                run->bound_[place].save + "` and `" + each.text + "`",
                                            {"leave one of them out"}, signature));
    run->bound_[place].save = each.text;
  }
  run->expected_.resize(run->bound_.size());
  for (const Specification& each : request.expects) {
    KILN_TRY(const auto place, place_of_argument(each.argument, signature));
    if (!run->bound_[place].is_buffer())
      return tl::unexpected(wrong_arguments(
          "argument `" + each.argument + "` is no buffer, and nothing can be expected of it", {}, signature));
    if (run->expected_[place])
      return tl::unexpected(wrong_arguments("two things are expected of argument `" + each.argument + "`",
                                            {"leave one of them out"}, signature));
    KILN_TRY(run->expected_[place],
             expected_array(signature.kernel, each, run->bound_[place], request.seed, read_data));
  }
  if (!is_much) {
    KILN_TRY(run->load(watched));
  }
  KILN_TRY(run->shape_, choose_shape(request.shape, run->kernel_->facts(), run->kernel_->limits(),
                                     run->bound_, signature));
  KILN_TRY(run->place(!watched));
  return run;
}

Result<void> FileRun::load(bool watched) {
  KILN_TRY(const auto settings, cache_options());
  Cache cache = Cache::open(settings);
  BundleOptions options = watched ? counted_build() : BundleOptions();
  for (const std::string& more : {detail::split_options(request_.flags).back_end, request_.build_flags})
    if (!more.empty()) options.flags += (options.flags.empty() ? "" : " ") + more;
  KILN_TRY(bundle_, Bundle::load(device_, code_.files, options, &cache));
  KILN_TRY(kernel_, bundle_.kernel(code_.facts.name));
  return {};
}

Result<void> FileRun::place(bool guarded) {
  // The CPU device sees accesses beyond an allocation itself where it counts: there is none to hide them
  // then.
  guard_ = guarded ? kGuardBytes : 0;
  buffers_.resize(bound_.size());
  pointers_.resize(bound_.size());
  std::vector<std::uint64_t> sizes;
  for (const Bound& each : bound_) sizes.push_back(each.is_buffer() ? each.data.bytes.size() : 0);
  if (std::ranges::max(sizes.empty() ? std::vector<std::uint64_t>{0} : sizes) >
      kernel_->home().largest_buffer)
    return tl::unexpected(detail::refuse_buffer(*kernel_, sizes));
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    const Bound& each = bound_[i];
    if (each.is_buffer()) {
      KILN_TRY(buffers_[i], device_.context.get().allocate_shared(device_.device, sizes[i] + guard_));
      pointers_[i] = buffers_[i].data();
    }
    switch (each.kind) {
      case ArgumentKind::local_pointer:
        arguments_.push_back({each.kind, each.local_bytes, nullptr});
        break;
      case ArgumentKind::global_pointer:
        arguments_.push_back(
            {each.kind, sizeof(void*), each.is_null ? nullptr : static_cast<const void*>(&pointers_[i])});
        break;
      default:
        arguments_.push_back({each.kind, each.data.bytes.size(), each.data.bytes.data()});
        break;
    }
  }
  return {};
}

samples::Prepared FileRun::prepare(const LaunchShape& shape) {
  samples::Prepared prepared;
  prepared.shape = {shape.groups, shape.group_size};
  prepared.slm = slm_arguments();
  for (const auto& each : expected_)
    if (each) prepared.elements += each->meant_numbers();
  prepared.reset = [this] {
    for (std::size_t i = 0; i < bound_.size(); ++i) {
      if (!buffers_[i]) continue;
      auto* begin = static_cast<std::byte*>(buffers_[i].data());
      std::ranges::copy(bound_[i].data.bytes, begin);
      std::memset(begin + bound_[i].data.bytes.size(), kGuardByte, guard_);
    }
  };
  prepared.launch = [this, shape](CommandListRef list, const CheckedKernel& kernel, Sync sync) {
    return launch_with(list, kernel, {shape.groups, shape.group_size, sync}, arguments_);
  };
  prepared.verify = [] { return std::optional<samples::Mismatch>(); };
  return prepared;
}

std::optional<Error> FileRun::overrun() const {
  for (std::size_t i = 0; i < bound_.size() && is_executed(device_); ++i) {
    if (!buffers_[i]) continue;
    const auto* end = static_cast<const unsigned char*>(buffers_[i].data()) + bound_[i].data.bytes.size();
    const auto* wrong =
        std::find_if(end, end + guard_, [](unsigned char byte) { return byte != kGuardByte; });
    if (wrong == end + guard_) continue;
    return written_behind(code_.facts.name, bound_[i].label, bound_[i].data.bytes.size(),
                          bound_[i].data.bytes.size() + static_cast<std::size_t>(wrong - end));
  }
  return std::nullopt;
}

std::vector<BufferResult> FileRun::results() const {
  std::vector<BufferResult> all;
  for (std::size_t i = 0; i < bound_.size() && is_executed(device_); ++i) {
    if (!buffers_[i]) continue;
    const Bound& each = bound_[i];
    BufferResult result{i,         each.label,   {each.data.type, each.data.shape, {}},
                        each.save, expected_[i], each.is_output()};
    const auto* begin = static_cast<const std::byte*>(buffers_[i].data());
    result.data.bytes.assign(begin, begin + each.data.bytes.size());
    all.push_back(std::move(result));
  }
  return all;
}

std::uint64_t FileRun::slm_arguments() const {
  std::uint64_t sum = 0;
  for (const Bound& each : bound_) sum += each.local_bytes;
  return sum;
}

}  // namespace kiln::tool
