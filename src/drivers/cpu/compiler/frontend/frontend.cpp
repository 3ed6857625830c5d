// SPDX-License-Identifier: MIT
// Validation, translation and linking of SPIR-V modules.
#include "drivers/cpu/compiler/frontend/frontend.hpp"

#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/raw_ostream.h>

#include <cstring>
#include <set>
#include <spirv/unified1/spirv.hpp>

#include "drivers/cpu/compiler/frontend/spirv_sites.hpp"
#include "drivers/cpu/compiler/frontend/spirv_words.hpp"
#include "drivers/cpu/compiler/frontend/translate.hpp"
#include "drivers/cpu/compiler/frontend/validate.hpp"
#include "drivers/cpu/compiler/instrument/instrument.hpp"
#include "kiln/binary.hpp"

namespace kiln::cpu {
namespace {

std::vector<std::uint32_t> as_words(std::span<const std::byte> bytes) {
  std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint32_t));
  return words;
}

bool describe_kernels(std::span<const std::byte> spirv, const ValidatedModule& validated, Frontend& out,
                      std::string& log) {
  const auto facts = read_spirv(spirv, SpirvUse::part);
  if (!facts) {
    log.append("error: SPIR-V: ").append(facts.error().message).append("\n");
    return false;
  }
  for (const KernelFacts& kernel : facts->kernels) {
    DescribedKernel described;
    described.facts = kernel;
    if (const auto reason = validated.refused.find(kernel.name); reason != validated.refused.end())
      described.refused = reason->second;
    if (const auto hint = validated.size_hints.find(kernel.name); hint != validated.size_hints.end())
      described.group_size_hint = hint->second;
    out.kernels.push_back(std::move(described));
  }
  return true;
}

// Those of the functions that validation left in the module.
std::map<std::uint32_t, FunctionSites> sites_of(std::span<const std::byte> spirv,
                                                const std::vector<std::uint32_t>& kept) {
  std::set<std::uint32_t> functions;
  for (std::size_t at = kHeaderWords; at < kept.size(); at += kept[at] >> 16)
    if ((kept[at] & 0xffff) == spv::OpFunction) functions.insert(kept[at + 2]);
  auto sites = spirv_sites(as_words(spirv));  // with the lines that validation leaves out
  std::erase_if(sites, [&](const auto& each) { return !functions.contains(each.first); });
  return sites;
}

std::string warning_of(const std::string& verdict) {
  return "SPIR-V: " + verdict.substr(0, verdict.find('\n')) + "\n";
}

// The translator trusts what it reads, and the validator did not: LLVM has a look of its own.
bool verify(const llvm::Module& module, std::string& log) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (!llvm::verifyModule(module, &stream)) return true;
  log.append("error: the translated module is not valid: ").append(stream.str()).append("\n");
  return false;
}

bool add_module(const SpirvModule& input, bool fp64, bool with_sites, llvm::LLVMContext& context,
                Frontend& out, std::string& warnings, std::string& log) {
  ValidatedModule validated = validate_spirv(input.bytes, log, fp64);
  if (validated.words.empty() || !describe_kernels(input.bytes, validated, out, log)) return false;
  if (!validated.verdict.empty()) warnings.append(warning_of(validated.verdict));
  std::map<std::uint32_t, FunctionSites> sites;
  if (with_sites) {
    sites = sites_of(input.bytes, validated.words);
    validated.words = with_function_names(validated.words, sites);
  }
  std::unique_ptr<llvm::Module> module =
      translate(std::as_bytes(std::span(validated.words)), input.constants, context, log);
  if (module == nullptr || (!validated.verdict.empty() && !verify(*module, log))) return false;
  if (with_sites) tag_sites(*module, sites);
  if (out.module == nullptr) {
    out.module = std::move(module);
    return true;
  }
  // The reason goes to the context's handler of diagnostics.
  return !llvm::Linker::linkModules(*out.module, std::move(module));
}

}  // namespace

Frontend read_modules(std::span<const SpirvModule> modules, bool fp64, bool sites, llvm::LLVMContext& context,
                      std::string& warnings, std::string& log) {
  Frontend out;
  for (const SpirvModule& module : modules)
    if (!add_module(module, fp64, sites, context, out, warnings, log)) return {};
  return out;
}

std::string verdicts(std::span<const SpirvModule> modules) {
  std::string out, log;
  for (const SpirvModule& module : modules)
    if (const auto validated = validate_spirv(module.bytes, log); !validated.verdict.empty())
      out.append(warning_of(validated.verdict));
  return out;
}

}  // namespace kiln::cpu
