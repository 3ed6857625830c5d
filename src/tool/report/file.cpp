// SPDX-License-Identifier: MIT
// What the report says beyond the run itself, from the kernel's files, and the file it goes to.
#include <cstring>

#include "support/whole_file.hpp"
#include "tool/check/parts.hpp"
#include "tool/common/session.hpp"
#include "tool/report/report.hpp"

namespace kiln::tool {
namespace {

/// The device's product. Driver 22.43 does not tell it: then the one that FAMILY.PRODUCT.bin is for.
const Target* target_here(const OpenDevice& device, std::string_view family, std::string_view file) {
  if (const auto& version = device.properties.ip_version) return find_target(*version);
  if (!file.starts_with(family) || !file.ends_with(".bin") || file.size() < family.size() + 6) return nullptr;
  return find_target(file.substr(family.size() + 1, file.size() - family.size() - 5));
}

/// Facts of native code for the target among the kernel's files, or nothing.
std::optional<KernelFacts> native_facts(const std::filesystem::path& folder, const samples::Sample& sample,
                                        const Target& target) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(std::string(sample.family) + ".") && name.ends_with(".bin"))
      files.push_back(entry.path().string());
  }
  const PartSet set = read_files(files);
  for (const Part& part : set.parts)
    if (const KernelFacts* kernel = part.is_for(target) ? part.part.facts->find(sample.kernel) : nullptr)
      return *kernel;
  return std::nullopt;
}

}  // namespace

ReportFacts report_facts(const OpenDevice& device, const CheckedKernel& kernel, const samples::Sample& sample,
                         const samples::Prepared& prepared, const std::string& file,
                         const std::optional<NamedSource>& named, const std::optional<Counters>& counters,
                         const std::filesystem::path& folder, const CompileFor& compile) {
  ReportFacts facts;
  facts.summary = sample.summary;
  facts.slm = kernel.facts().static_slm + prepared.slm;
  facts.slm_limit = device.compute.slm_per_group;
  const std::string family = sample.family;
  find_source(folder, file == family + ".cpu.spv" ? family + ".cpu" : family, named, facts);
  const Target* target = target_here(device, sample.family, file);
  if (!target) return facts;
  KernelFacts known = kernel.facts();
  std::string basis = "the binary that ran";
  // The CPU device has no hardware threads of its own: what counts is code for the product it stands for.
  if (device.kind == DeviceKind::cpu || known.simd_size == 0) {
    if (auto native = native_facts(folder, sample, *target)) {
      known = *std::move(native);
      basis = "the native binary for " + std::string(target->name) + " among the kernel's files";
    } else if (auto made = compile ? compile(*target) : std::nullopt) {
      known = *std::move(made);
      basis = "the native code that ocloc makes of it for " + std::string(target->name);
    } else {
      known.simd_size = counters ? static_cast<std::uint32_t>(counters->sub_group_size) : 16;
      known.grf_count = 128;
      if (counters && counters->barriers > 0) known.barrier_count = 1;
      basis = "an estimate, as there is no native binary for " + std::string(target->name) +
              " here: " + std::to_string(known.simd_size) + " work-items and 128 registers a hardware thread";
    }
  }
  if (known.simd_size != 0 && !basis.starts_with("an estimate"))
    facts.native_private = known.private_size + known.private_per_thread + known.scratch_per_thread[0] +
                           known.scratch_per_thread[1] + known.spill_size;
  const Extent& size = prepared.shape.group_size;
  facts.core = core_use(known, *target, std::uint64_t{size.x} * size.y * size.z, facts.slm, std::move(basis));
  return facts;
}

Error unwritable_report(const std::string& path, std::string reason) {
  return Error(ZE_RESULT_ERROR_UNKNOWN, "kiln",
               {"K0410",
                "report `" + path + "` cannot be written",
                {{"reason", std::move(reason)}},
                {"name a file on a disk with room, in a folder that may be written to"}});
}

Result<void> write_report(const std::string& path, const std::string& page) {
  std::error_code error;
  // A page into what is no file would mix with what else goes there.
  if (const auto there = std::filesystem::symlink_status(path, error);
      std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
    return tl::unexpected(unwritable_report(path, "it is a link, a folder or a device"));
  detail::WholeFile file(path);
  file.write(page);
  if (const int failed = file.finish()) return tl::unexpected(unwritable_report(path, std::strerror(failed)));
  return {};
}

}  // namespace kiln::tool
