// SPDX-License-Identifier: MIT
// Finds a kernel in OpenCL C, SPIR-V, native code, or a bundle of these.
#include "tool/kernel/load.hpp"

#include <algorithm>
#include <chrono>

#include "build/front_end.hpp"
#include "support/nearest.hpp"
#include "tool/check/parts.hpp"
#include "tool/common/output.hpp"

namespace kiln::tool {
namespace {

constexpr std::chrono::minutes kCompileTime{2};
constexpr std::string_view kEndings[] = {".cl", ".spv", ".bin", ".ar", ".yaml", ".yml"};

bool has_kernel_ending(std::string_view file) {
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return file.ends_with(ending); });
}

/// OpenCL C to SPIR-V, for the first target that this ocloc knows. Headers are found beside `path`.
Result<std::vector<std::byte>> compile_source(const std::string& path, const std::vector<std::byte>& source,
                                              const OpenDevice& device, const std::string& flags,
                                              bool lines) {
  const auto module = device.device.module_properties();
  const bool fp64 = module && module->fp64;
  const auto targets = detail::front_end_targets(device.properties, fp64);
  for (const std::string& target : targets) {
    offline::Compilation how{path, source, offline::SourceLanguage::opencl_c, target,
                             flags + (lines ? " -g" : "")};
    auto made = offline::compile_spirv(how, kCompileTime);
    if (made) {
      for (const CompilerMessage& each : made->messages) complain("%s", to_text(to_diagnostic(each)).c_str());
      return std::move(made->bytes);
    }
    if (made.error().kind != offline::CompileFailure::Kind::unknown_target || target == targets.back())
      return tl::unexpected(
          Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "ocloc", in_options(made.error().diagnostic)));
  }
  return std::vector<std::byte>();  // there is always a target
}

/// A kernel's facts, and the SPIR-V that says more of it.
struct FoundKernel {
  KernelFacts facts;
  std::vector<std::byte> spirv;
};

/// By name, in the order of the file; SPIR-V knows most of how a kernel is called.
std::vector<FoundKernel> kernels_in(std::span<const std::byte> file) {
  std::vector<FoundKernel> found;
  const auto parts = read_parts(file);
  auto codes = codes_of(file, parts);
  codes.resize(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].facts) continue;
    const bool is_spirv = parts[i].format == BinaryFormat::spirv;
    const auto spirv = is_spirv ? codes[i] : embedded_spirv(codes[i]);
    const auto inner = is_spirv ? parts[i].facts : read_spirv(spirv);
    for (const KernelFacts& kernel : parts[i].facts->kernels) {
      const KernelFacts* more = inner ? inner->find(kernel.name) : nullptr;
      FoundKernel one{more ? *more : kernel, {}};
      if (more) one.spirv.assign(spirv.begin(), spirv.end());
      const auto same = std::ranges::find_if(
          found, [&](const FoundKernel& each) { return each.facts.name == kernel.name; });
      if (same == found.end())
        found.push_back(std::move(one));
      else if (same->spirv.empty() && more)
        *same = std::move(one);
    }
  }
  return found;
}

Error no_such_kernel(const KernelName& name, const std::vector<FoundKernel>& kernels) {
  std::vector<std::string> names, help;
  for (const FoundKernel& each : kernels) names.push_back(each.facts.name);
  if (!name.kernel.empty()) help = detail::did_you_mean(name.kernel, names);
  Diagnostic diagnostic{
      "K0431",
      name.kernel.empty() ? "`" + name.file + "` has " + std::to_string(names.size()) + " kernels: which one?"
                          : "`" + name.file + "` has no kernel `" + name.kernel + "`",
      {},
      std::move(help)};
  for (const std::string& each : names) diagnostic.rows.push_back({"kernel", each});
  if (!names.empty()) diagnostic.help.push_back("name it behind a colon: " + name.file + ":" + names.front());
  return Error(ZE_RESULT_ERROR_INVALID_KERNEL_NAME, "kiln run", std::move(diagnostic));
}

}  // namespace

KernelName parse_kernel_name(const std::string& text) {
  std::error_code error;
  const auto colon = text.rfind(':');
  if (colon == text.npos || colon == 0 || std::filesystem::exists(text, error)) return {text, ""};
  const std::string kernel = text.substr(colon + 1);
  if (kernel.find('/') != kernel.npos) return {text, ""};
  return {text.substr(0, colon), kernel};
}

bool is_kernel_file(const std::string& text) {
  const std::string file = parse_kernel_name(text).file;
  std::error_code error;
  return has_kernel_ending(file) || file.find('/') != file.npos ||
         std::filesystem::is_regular_file(file, error);
}

Result<KernelCode> read_kernel(const KernelName& name, const OpenDevice& device, const std::string& flags,
                               bool lines) {
  KernelCode code;
  code.path = name.file;
  KILN_TRY(auto file, read_kernel_file(name.file));
  if (name.file.ends_with(".cl")) {
    code.source.assign(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
    KILN_TRY(file.bytes, compile_source(name.file, file.bytes, device, flags, lines));
  }
  auto kernels = kernels_in(file.bytes);
  if (kernels.empty()) {
    const auto parts = read_parts(file.bytes);
    for (const BinaryPart& part : parts)
      if (!part.facts) return tl::unexpected(unreadable_part(name.file, part));
  }
  FoundKernel* found = kernels.size() == 1 && name.kernel.empty() ? kernels.data() : nullptr;
  for (FoundKernel& each : kernels)
    if (each.facts.name == name.kernel) found = &each;
  if (!found) return tl::unexpected(no_such_kernel(name, kernels));
  code.signature = signature_of(found->facts, found->spirv);
  code.facts = std::move(found->facts);
  code.spirv = std::move(found->spirv);
  code.files.push_back(std::move(file));
  return code;
}

std::vector<Signature> signatures_of(std::span<const std::byte> file) {
  std::vector<Signature> all;
  for (const FoundKernel& each : kernels_in(file)) all.push_back(signature_of(each.facts, each.spirv));
  return all;
}

}  // namespace kiln::tool
