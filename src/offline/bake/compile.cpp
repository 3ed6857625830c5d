// SPDX-License-Identifier: MIT
// From sources to the members of a bundle.
#include <algorithm>
#include <cctype>

#include "kiln/build.hpp"
#include "kiln/needs.hpp"
#include "offline/bake/parts.hpp"
#include "offline/compiler_messages.hpp"
#include "offline/link_spirv.hpp"

namespace kiln::offline {
namespace {

using Bytes = std::span<const std::byte>;

tl::unexpected<CompileFailure> refuse(const std::string& target, Diagnostic diagnostic) {
  return tl::unexpected(CompileFailure{CompileFailure::Kind::refused, target, std::move(diagnostic)});
}

/// "file.cl:12", where the source says `name(` for the first time; the file alone where it does not.
std::string place_of(const BakeSource& source, std::string_view name) {
  if (source.language == SourceLanguage::spirv) return source.file;
  const std::string_view text(reinterpret_cast<const char*>(source.bytes.data()), source.bytes.size());
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (auto at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const auto behind = text.find_first_not_of(" \t\n", at + name.size());
    if ((at == 0 || !in_word(text[at - 1])) && behind != text.npos && text[behind] == '(')
      return source.file + ":" + std::to_string(1 + std::ranges::count(text.substr(0, at), '\n'));
  }
  return source.file;
}

/// With -g ocloc would write the name of its private folder into the binary.
std::string options_for(const BakeSource& source, const BakeFlags& flags) {
  if (!flags.debug || source.file.find('"') != std::string::npos) return flags.front_end;
  std::error_code ignored;
  return flags.front_end + " -s \"" + std::filesystem::absolute(source.file, ignored).string() + "\"";
}

/// Adds the kernels of a source to those of the sources before.
std::optional<Diagnostic> add_kernels(std::vector<BakedKernel>& kernels, const ModuleFacts& facts,
                                      const BakeSource& source, const std::vector<BakeSource>& sources) {
  for (const KernelFacts& kernel : facts.kernels) {
    const auto other = std::ranges::find(kernels, kernel.name, &BakedKernel::name);
    if (other != kernels.end()) {
      const auto first = std::ranges::find(sources, other->file, &BakeSource::file);
      return bad_source("two sources have a kernel `" + kernel.name + "`",
                        {{"one", place_of(*first, kernel.name)}, {"other", place_of(source, kernel.name)}},
                        "rename one of them, or bake each source into a bundle of its own");
    }
    kernels.push_back({kernel.name, source.file});
  }
  return std::nullopt;
}

}  // namespace

tl::expected<FrontEnd, CompileFailure> compile_front_end(const std::vector<BakeSource>& sources,
                                                         const std::string& target, const BakeFlags& flags,
                                                         const Bounds& bounds) {
  FrontEnd result;
  const auto refuse_source = [&](Diagnostic diagnostic) {
    return tl::unexpected(CompileFailure{CompileFailure::Kind::refused, target, std::move(diagnostic),
                                         std::move(result.messages)});
  };
  std::vector<std::vector<std::byte>> made;
  made.reserve(sources.size());  // the spans below point into it
  std::vector<Bytes> modules;
  for (const BakeSource& source : sources) {
    Bytes code = source.bytes;
    if (source.language == SourceLanguage::opencl_c) {
      auto spirv = compile_spirv(
          {source.file, source.bytes, source.language, target, options_for(source, flags), bounds.stop},
          bounds.time_limit);
      if (!spirv) {
        // What was said of the sources before it.
        add_messages(result.messages, std::move(spirv.error().messages));
        spirv.error().messages = std::move(result.messages);
        return tl::unexpected(std::move(spirv).error());
      }
      add_messages(result.messages, std::move(spirv->messages));
      code = made.emplace_back(std::move(spirv->bytes));
    }
    auto facts = read_spirv(code, SpirvUse::part);
    if (!facts) {
      const Error error = unreadable_part(source.file, {{}, BinaryFormat::spirv, std::move(facts)});
      return refuse_source(*error.diagnostic());
    }
    if (auto twice = add_kernels(result.kernels, *facts, source, sources)) return refuse_source(*twice);
    modules.push_back(code);
  }
  if (result.kernels.empty())
    return refuse_source(bad_source("`" + sources.front().file + "` has no kernel for " + target, {},
                                    "give a source with a `kernel` function"));
  if (modules.size() == 1) {
    result.spirv.assign(modules[0].begin(), modules[0].end());
    return result;
  }
  auto linked = link_spirv(modules);
  if (!linked) {
    std::vector<DiagnosticRow> rows;
    for (const BakeSource& source : sources) rows.push_back({"source", source.file});
    rows.push_back({"reason", linked.error()});
    return refuse_source(bad_source("the sources cannot be linked for " + target, std::move(rows),
                                    "define each function once, or bake a bundle for each source"));
  }
  result.spirv = *std::move(linked);
  return result;
}

tl::expected<BakedTarget, CompileFailure> bake_target(const std::vector<BakeSource>& sources,
                                                      const Target& target, const BakeFlags& flags,
                                                      const Bounds& bounds) {
  const std::string name(target.name);
  auto front_end = compile_front_end(sources, name, flags, bounds);
  if (!front_end) return tl::unexpected(std::move(front_end).error());
  std::string files;
  for (const BakeSource& source : sources) files += (files.empty() ? "" : " + ") + source.file;
  auto binary = compile_native_checked(
      {files, front_end->spirv, SourceLanguage::spirv, name, flags.back_end, bounds.stop}, bounds.time_limit);
  if (!binary) return tl::unexpected(std::move(binary).error());
  if (flags.back_end.find("-library-compilation") == std::string::npos)
    if (auto missing = explain_symbols(missing_symbols(binary->bytes), BinaryFormat::elf))
      return refuse(name, *std::move(missing));
  // Old releases say the version nowhere in the binary.
  std::uint32_t version = read_zebin(binary->bytes)->ip_version;
  if (version == 0)
    version =
        ocloc_ip_version(name, bounds.time_limit).value_or(target.architecture << 22 | target.release << 14);
  return BakedTarget{*std::move(front_end),
                     {"64." + ip_version_text(version), name, std::move(binary->bytes)}};
}

Result<BakedMember> bake_cpu(Bytes spirv, const BakeFlags& flags) {
  const auto device = open_device({DeviceKind::cpu, ""});
  if (!device) return tl::unexpected(device.error());
  const ModuleInput input{ModuleFormat::spirv, spirv, flags.back_end};
  const ModuleBuild build = build_module(device->driver, device->context.get(), device->device, {&input, 1});
  if (build.code() == ZE_RESULT_SUCCESS)
    if (auto binary = build.module->native_binary())
      return BakedMember{std::string(kCpuMember), "cpu", *std::move(binary)};
  return tl::unexpected(cpu_failure(build.code(), build.log));
}

Error cpu_failure(ze_result_t code, const std::string& log) {
  Diagnostic diagnostic{"K0422", "the CPU device does not compile the kernels", {}, {}};
  diagnostic.rows = {{"answer", result_name(code)}, {"build log", log}};
  diagnostic.help = {
      "bake without `cpu`: that device compiles the SPIR-V where it meets it, or says then why not",
      "for another product's sub-group sizes and SLM: KILN_CPU_PROFILE=PRODUCT"};
  return Error(code, "zeModuleCreate", std::move(diagnostic));
}

}  // namespace kiln::offline
