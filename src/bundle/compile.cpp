// SPDX-License-Identifier: MIT
// A bundle of OpenCL C that is compiled at run time.
#include "build/build_source.hpp"
#include "bundle/build_failure.hpp"
#include "bundle/compile_log.hpp"
#include "kiln/bundle.hpp"
#include "kiln/refusal.hpp"
#include "level_zero/call.hpp"
#include "level_zero/observe.hpp"

namespace kiln {
namespace {

Diagnostic no_compiler(const std::string& name, const detail::SourceBuild& build) {
  const std::string begin = "OpenCL C in `" + name + "` cannot be compiled: ";
  const std::string& log = build.built.build.log;
  const std::string ship = "or compile it beforehand, with `kiln bake` or ocloc, and load that";
  switch (build.front_end) {
    case detail::FrontEndEnd::no_ocloc:
      return {"K0405",
              begin + "the driver takes none, and ocloc is not installed",
              {{"reason", log}},
              {"install it: `apt install intel-opencl-icd` on Debian 12, `apt install intel-ocloc "
               "libigdfcl2` on newer "
               "Debian and Ubuntu",
               ship}};
    case detail::FrontEndEnd::no_front_end:
      return {"K0405",
              begin + "this ocloc has no front end for it",
              {{"ocloc", log}},
              {"install Intel's front end: `apt install libigdfcl2`, or libigdfcl1 where ocloc asks for that",
               ship}};
    case detail::FrontEndEnd::unknown_target:
      return {"K0405",
              begin + "this ocloc does not know the device",
              {{"ocloc", log}},
              {"install a newer ocloc", ship}};
    default:
      break;
  }
  return {"K0405",
          begin + "ocloc left no SPIR-V, and no error",
          {},
          {"see whether ocloc works: `ocloc compile -file FILE -device DEVICE`", ship}};
}

Error compile_failure(const detail::SourceBuild& build, const std::string& name,
                      const detail::SourceText& source, const OpenDevice& device,
                      const BundleOptions& options) {
  const ModuleBuild& made = build.built.build;
  if (made.cancelled)
    return detail::build_failure(made, name, BinaryFormat::unknown, build.built.facts, device, options);
  if (build.front_end != detail::FrontEndEnd::compiled)
    return Error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "Bundle::compile", no_compiler(name, build));
  if (made.compiler_died)
    return Error(made.code(), "zeModuleCreate", explain_dead_compiler(name, "OpenCL C", made.log));
  if (made.code() == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE && !made.log.empty())
    return Error(made.code(), "Bundle::compile", detail::explain_source_failure(name, source, made.log));
  return detail::build_failure(made, name, BinaryFormat::spirv, build.built.facts, device, options);
}

}  // namespace

Result<Source> read_source(const std::filesystem::path& path) {
  KILN_TRY(auto file, read_kernel_file(path));
  Source source{path.string(),
                std::string(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size())};
  source.folders.push_back(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."));
  return source;
}

Result<Bundle> Bundle::compile(const OpenDevice& device, const Source& source, const BundleOptions& options,
                               Cache* cache) {
  return detail::told(Refused::build, compile_source(device, source, options, cache));
}

Result<Bundle> Bundle::compile_source(const OpenDevice& device, const Source& source,
                                      const BundleOptions& options, Cache* cache) {
  const std::string name = source.name.empty() ? detail::kNamelessSource : source.name;
  if (const auto split = detail::split_options(options.flags); !split.refused.empty()) {
    Diagnostic diagnostic{"K0250", "`" + name + "` is given an option that names files", {}, {}};
    diagnostic.rows = {{"option", split.refused}};
    diagnostic.help = {"name folders in Source::folders, and headers in Source::headers"};
    return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "Bundle::compile", std::move(diagnostic)));
  }
  auto text = detail::flatten(source, detail::read_header);
  if (!text)
    return tl::unexpected(
        Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "Bundle::compile", std::move(text).error()));
  Bundle bundle(device, options);
  const auto start = std::chrono::steady_clock::now();
  BuildOptions how{options.isolation};
  how.name = name;
  detail::SourceBuild build = detail::build_source(cache, device, *text, options.flags, how,
                                                   {options.registers, options.spill_limit});
  bundle.build_time_ = std::chrono::steady_clock::now() - start;
  if (build.built.build.code() != ZE_RESULT_SUCCESS)
    return tl::unexpected(compile_failure(build, name, *text, device, options));
  bundle.take(std::move(build.built), name);
  bundle.note_registers(device, options);
  return bundle;
}

}  // namespace kiln
