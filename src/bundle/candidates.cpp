// SPDX-License-Identifier: MIT
// Reads every part of the kernel files and ranks them for a device.
#include "bundle/candidates.hpp"

#include <algorithm>

namespace kiln::detail {
namespace {

using Bytes = std::span<const std::byte>;

/// Patch tokens say nothing of their kernels and are left to the driver, but for the wrapped SPIR-V that
/// read_parts() has found.
bool is_usable(const BinaryPart& part) { return part.facts || (part.format == BinaryFormat::patch_tokens); }

std::string target_text(const BinaryPart& part) {
  if (part.name == kCpuMember) return "cpu";
  const Target* target = part.facts && part.format == BinaryFormat::elf ? target_of(part) : nullptr;
  return target ? std::string(target->name) : std::string();
}

/// SPIR-V for CPUs alone, by the name of its file.
bool is_cpu_variant(const KernelFile& file, const BinaryPart& part) {
  return part.format == BinaryFormat::spirv && file.name.ends_with(".cpu.spv");
}

bool is_cpu(const DeviceProperties& device) { return device.type == ZE_DEVICE_TYPE_CPU; }

/// The version that the code was made for: by its note, else by the name of its member; 0: not said.
std::uint32_t version_of(const Candidate& candidate) {
  if (candidate.facts.ip_version) return candidate.facts.ip_version;
  return member_ip_version(candidate.member).value_or(0);
}

/// The CPU device executes a product's code one instruction after another: that comes last.
/// A binary with SPIR-V inside would rather be compiled in silence than refused: where it is for another
/// release it comes last.
int rank(const Candidate& candidate, const DeviceProperties& device) {
  if (candidate.format == BinaryFormat::spirv) return candidate.target.empty() ? 3 : 2;
  if (candidate.fit == BinaryFit::exact) return 0;
  if (is_cpu(device) && !candidate.target.empty()) return 5;
  const std::uint32_t built_for = version_of(candidate), have = device.ip_version.value_or(0);
  if (built_for == 0 || have == 0 || is_cpu(device)) return 1;
  if (built_for >> 14 == have >> 14) return 1;
  return candidate.facts.has_ir ? 4 : 2;
}

void add(CandidateList& list, Candidate candidate, const DeviceProperties& device) {
  const std::uint32_t have = is_cpu(device) ? 0 : device.ip_version.value_or(0);
  if (candidate.format == BinaryFormat::spirv)
    candidate.fit = BinaryFit::spirv;
  else if (candidate.target == "cpu" || (have != 0 && version_of(candidate) == have))
    candidate.fit = BinaryFit::exact;
  else if (have == 0 && !is_cpu(device) && member_ip_version(candidate.member)) {
    Candidate named = candidate;
    named.by_name = true;
    named.fit = BinaryFit::exact;
    list.candidates.push_back(std::move(named));
  }
  list.candidates.push_back(std::move(candidate));
}

/// The bytes of each part, in the order of read_parts().
std::vector<Bytes> codes_of(Bytes file) {
  if (identify(file) != BinaryFormat::archive) return {file};
  std::vector<Bytes> codes;
  if (const auto members = read_archive(file))
    for (const ArchiveMember& member : *members) codes.push_back(member.content);
  return codes;
}

}  // namespace

std::string Candidate::name() const { return member.empty() ? file : file + ", member " + member; }

std::vector<std::byte> archive_of(const Candidate& candidate) {
  const auto stripped = candidate.facts.has_ir ? without_spirv(candidate.code) : std::vector<std::byte>();
  const ArchiveMember member{candidate.member, stripped.empty() ? candidate.code : Bytes(stripped)};
  auto archive = write_archive({&member, 1});
  return archive ? *std::move(archive) : std::vector<std::byte>();
}

CandidateList find_candidates(std::span<const KernelFile> files, const DeviceProperties& device,
                              bool library) {
  CandidateList list;
  for (const KernelFile& file : files) {
    const auto codes = codes_of(file.bytes);
    auto parts = read_parts(file.bytes);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      BinaryPart& part = parts[i];
      Candidate candidate{file.name, part.name, part.format};
      if (library && !part.facts && part.format == BinaryFormat::spirv && i < codes.size())
        part.facts = read_spirv(codes[i], SpirvUse::part);
      if (!is_usable(part) || i >= codes.size()) {
        const BinaryError& error = part.facts.error();
        list.unread.push_back(
            {candidate.name(), error.message + " (at byte " + std::to_string(error.offset) + ")"});
        continue;
      }
      const bool cpu_variant = is_cpu_variant(file, part);
      if ((part.name == kCpuMember || cpu_variant) && !is_cpu(device)) {
        list.foreign.push_back(
            {candidate.name(), cpu_variant ? "it is for CPUs, by its name" : "it is for the CPU device"});
        continue;
      }
      const bool wrapped = part.format == BinaryFormat::spirv && identify(codes[i]) != BinaryFormat::spirv;
      candidate.code = wrapped ? embedded_spirv(codes[i]) : codes[i];
      candidate.target = cpu_variant ? "cpu" : target_text(part);
      if (part.facts) candidate.facts = *std::move(part.facts);
      add(list, std::move(candidate), device);
    }
  }
  std::ranges::stable_sort(list.candidates, {}, [&](const Candidate& each) { return rank(each, device); });
  return list;
}

}  // namespace kiln::detail
