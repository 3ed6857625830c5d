// SPDX-License-Identifier: MIT
// Writes and reads kernel facts as 64-bit numbers of the host's byte order, strings as length and bytes.
#include "drivers/cpu/compiler/backend/facts_section.hpp"

#include <cstring>

namespace kiln::cpu {
namespace {

class FactsWriter {
 public:
  void number(std::uint64_t value) { out_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view value) {
    number(value.size());
    out_.append(value);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Gives zeros behind the end and remembers that it did.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  void number(T& value) {
    std::uint64_t wide = 0;
    if (bytes_.size() < sizeof wide) {
      failed_ = true;
    } else {
      std::memcpy(&wide, bytes_.data(), sizeof wide);
      bytes_.remove_prefix(sizeof wide);
    }
    value = static_cast<T>(wide);
  }
  void text(std::string& value) {
    std::uint64_t size = 0;
    number(size);
    if (size > bytes_.size()) {
      failed_ = true;
      return;
    }
    value = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
  }
  /// A number of things that take at least eight bytes each.
  std::uint64_t count() {
    std::uint64_t value = 0;
    number(value);
    if (value > bytes_.size() / 8) failed_ = true;
    return failed_ ? 0 : value;
  }
  [[nodiscard]] bool complete() const { return !failed_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool failed_ = false;
};

}  // namespace

std::string write_facts(std::span<const DescribedKernel> kernels) {
  FactsWriter out;
  out.number(kernels.size());
  for (const DescribedKernel& described : kernels) {
    out.text(described.refused);
    for (const std::uint32_t size : described.group_size_hint) out.number(size);
    out.number(described.grid_barrier);
    out.number(described.calls_pointers);
    const KernelFacts& kernel = described.facts;
    out.text(kernel.name);
    out.number(kernel.static_slm);
    for (const std::uint32_t size : kernel.required_group_size) out.number(size);
    out.number(kernel.barrier_count);
    out.number(kernel.required_sub_group_size);
    out.number(kernel.simd_size);
    out.number(kernel.private_size);
    out.number(kernel.arguments.size());
    for (const ArgumentFacts& argument : kernel.arguments) {
      out.number(static_cast<std::uint64_t>(argument.kind));
      out.number(argument.size);
      out.number(argument.local_alignment);
      out.text(argument.name);
    }
  }
  return out.take();
}

std::optional<std::vector<DescribedKernel>> read_facts(std::string_view bytes) {
  Reader in(bytes);
  std::vector<DescribedKernel> kernels(in.count());
  for (DescribedKernel& described : kernels) {
    in.text(described.refused);
    for (std::uint32_t& size : described.group_size_hint) in.number(size);
    in.number(described.grid_barrier);
    in.number(described.calls_pointers);
    KernelFacts& kernel = described.facts;
    in.text(kernel.name);
    in.number(kernel.static_slm);
    for (std::uint32_t& size : kernel.required_group_size) in.number(size);
    in.number(kernel.barrier_count);
    in.number(kernel.required_sub_group_size);
    in.number(kernel.simd_size);
    in.number(kernel.private_size);
    kernel.arguments.resize(in.count());
    kernel.arguments_known = true;
    for (ArgumentFacts& argument : kernel.arguments) {
      in.number(argument.kind);
      in.number(argument.size);
      in.number(argument.local_alignment);
      in.text(argument.name);
    }
  }
  if (!in.complete()) return std::nullopt;
  return kernels;
}

}  // namespace kiln::cpu
