// SPDX-License-Identifier: MIT
// Command lines for ocloc 22.43 to 26.27, and what it says when it fails.
#include "offline/ocloc.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "binary/native_sections.hpp"
#include "offline/compiler_messages.hpp"
#include "support/private_folder.hpp"

namespace kiln::offline {
namespace {

using std::chrono::milliseconds;
using Kind = CompileFailure::Kind;

constexpr std::size_t kShownLines = 20;
constexpr std::size_t kShownOfLine = 300;  // bytes

/// The lines worth showing; what would command a terminal becomes a point.
std::vector<std::string> shown_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < kShownLines) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, std::min(end, kShownOfLine)));
    text.remove_prefix(std::min(end + 1, text.size()));
    std::ranges::replace_if(
        line, [](char c) { return c >= 0 && (c < ' ' || c == 127); }, '.');
    if (line.find_first_not_of(" .") != line.npos && !line.starts_with("Command was:"))
      lines.push_back(std::move(line));
  }
  return lines;
}

std::string what_of(const Compilation& source) { return "`" + source.file + "` for " + source.target; }

CompileFailure no_binary(const Compilation& source, std::string why) {
  return {Kind::broken,
          source.target,
          {"K0406",
           "ocloc does not compile " + what_of(source),
           {{"ended by", std::move(why)}},
           {"see whether ocloc works: `ocloc compile -file FILE -device " + source.target + "`"}}};
}

CompileFailure no_kernel(const Compilation& source) {
  return {
      Kind::refused,
      source.target,
      {"K0406", what_of(source) + " has no kernel", {}, {"declare a function as `kernel void NAME(...)`"}}};
}

/// Runs ocloc on a copy: it takes options from files beside its input, and drops others in the current
/// folder. It can also end with status 0 and no output, on a damaged SPIR-V for one.
Compiled compile(const Compilation& source, std::vector<std::string> more, const char* suffix,
                 milliseconds time_limit) {
  const auto no_room = [&] {
    return tl::unexpected(no_binary(source, "no room in the temporary folder (TMPDIR)"));
  };
  const auto folder = detail::PrivateFolder::make();
  if (!folder) return no_room();
  const bool opencl = source.language == SourceLanguage::opencl_c;
  // ocloc 22.43 ends with status 225 and no word, 26.27 with -5151.
  if (opencl && source.code.empty()) return tl::unexpected(no_kernel(source));
  const std::string input = opencl ? "source.cl" : "source.spv";
  std::ofstream copy(folder->path() / input, std::ios::binary);
  copy.write(reinterpret_cast<const char*>(source.code.data()),
             static_cast<std::streamsize>(source.code.size()));
  copy.close();
  if (!copy) return no_room();

  std::string options = source.options;
  if (opencl) {
    std::error_code ignored;
    const auto beside = std::filesystem::absolute(source.file, ignored).parent_path().string();
    if (beside.find('"') == beside.npos) options += (options.empty() ? "-I \"" : " -I \"") + beside + "\"";
  }
  ProcessOptions process{
      {"ocloc", "compile", "-file", input, "-device", source.target}, folder->path(), time_limit};
  process.stop = &source.stop;
  auto& arguments = process.arguments;
  arguments.insert(arguments.end(), {"-output", "result", "-output_no_suffix"});
  if (!opencl) arguments.push_back("-spirv_input");
  if (!options.empty()) arguments.insert(arguments.end(), {"-options", options});
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProcessResult result = run_process(process);
  if (!result.succeeded()) return tl::unexpected(explain_compile(source, result, time_limit));
  // Old releases (22.43) leave a suffix out, new ones (26.27) do not.
  for (const std::string& name : {std::string("result") + suffix, std::string("result")})
    if (auto file = read_kernel_file(folder->path() / name); file && !file->bytes.empty())
      return CompiledCode{std::move(file->bytes), read_messages(result.out + result.err, source)};
  return tl::unexpected(explain_compile(source, result, time_limit));
}

}  // namespace

CompileFailure explain_compile(const Compilation& source, const ProcessResult& result,
                               milliseconds time_limit) {
  const std::string said = result.out + result.err;
  using End = ProcessResult::End;
  if (result.end == End::interrupted) return {Kind::interrupted, source.target, {}};
  if (result.end == End::not_started && result.number == ENOENT) {
    const bool opencl = source.language == SourceLanguage::opencl_c;
    Diagnostic missing{
        "K0405",
        (opencl ? "OpenCL C in `" : "`") + source.file + "` cannot be compiled: ocloc is not installed",
        {},
        {"install it: `apt install intel-opencl-icd` on Debian 12, `apt install intel-ocloc` on "
         "Debian testing and newer Ubuntu (Debian 13 has none)"}};
    if (opencl) missing.help.emplace_back("or give SPIR-V or native binaries in place of the source");
    return {Kind::no_ocloc, source.target, std::move(missing)};
  }
  if (said.find("Loading of FCL library has failed") != said.npos)
    return {Kind::no_front_end,
            source.target,
            {"K0405",
             "OpenCL C in `" + source.file + "` cannot be compiled: this ocloc has no front end for it",
             {{"ocloc", shown_lines(said).front()}},
             {"compile it to SPIR-V elsewhere (another release of ocloc by `-spv_only`, or clang with "
              "`-target spirv64`) and give that",
              "or install Intel's front end, libigdfcl, where your distribution has it"}}};
  // Both of 22.43 and 26.27, with exit status 223.
  if (said.find("Cannot get HW Info for device") != said.npos)
    return {Kind::unknown_target,
            source.target,
            {"K0406",
             "ocloc does not compile " + what_of(source),
             {{"reason", "this release of ocloc does not know " + source.target}},
             {"install a newer ocloc, or for an old product an older one"}}};

  CompileFailure failure = no_binary(source, result.ended_by(time_limit));
  failure.messages = read_messages(said, source);
  if (result.succeeded()) failure.diagnostic.rows = {{"reason", "it left no binary, and no error"}};
  const auto lines = shown_lines(said);
  const bool opencl = source.language == SourceLanguage::opencl_c;
  for (const std::string& line : lines)
    failure.diagnostic.rows.push_back({"ocloc", opencl ? with_file(line, source.file) : line});
  if (result.end == End::timed_out) failure.diagnostic.help = {"give it more time: `time_limit`"};
  if (result.end == End::exited && !result.succeeded() && !lines.empty()) {
    failure.kind = Kind::refused;
    failure.diagnostic.help = {"correct the source, or the options that `flags` passes on"};
  }
  return failure;
}

Compiled compile_native(const Compilation& source, milliseconds time_limit) {
  // 22.43 writes its older format without the internal option; newer releases take it and need it not.
  return compile(source, {"-exclude_ir", "-internal_options", "-cl-intel-allow-zebin"}, ".bin", time_limit);
}

Compiled compile_native_checked(const Compilation& source, milliseconds time_limit) {
  auto compiled = compile_native(source, time_limit);
  if (!compiled) return compiled;
  const auto parts = read_parts(compiled->bytes);
  if (parts.size() == 1 && parts[0].format == BinaryFormat::elf && parts[0].facts) return compiled;
  if (!parts[0].facts && parts[0].facts.error().message == detail::kNoZeInfo)
    return tl::unexpected(no_kernel(source));
  const std::string why = parts[0].facts ? "it is no native binary" : parts[0].facts.error().message;
  CompileFailure failure = no_binary(source, {});
  failure.diagnostic.rows = {{"reason", "what it wrote cannot be read: " + why}};
  return tl::unexpected(std::move(failure));
}

std::optional<std::uint32_t> ocloc_ip_version(const std::string& target, milliseconds time_limit) {
  // "Matched ids:" and one version a line; several for a name that stands for several products.
  const auto folder = detail::PrivateFolder::make();  // it drops files in the current one
  if (!folder) return std::nullopt;
  const ProcessResult result = run_process({{"ocloc", "ids", target}, folder->path(), time_limit});
  constexpr std::string_view kTitle = "Matched ids:\n";
  const auto title = result.out.find(kTitle);
  if (!result.succeeded() || title == std::string::npos) return std::nullopt;
  const std::string line = result.out.substr(title + kTitle.size());
  return member_ip_version("64." + line.substr(0, line.find('\n')));
}

Compiled compile_spirv(const Compilation& source, milliseconds time_limit) {
  return compile(source, {"-spv_only"}, ".spv", time_limit);
}

}  // namespace kiln::offline
