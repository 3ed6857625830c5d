// SPDX-License-Identifier: MIT
// YAML to the options of `kiln run FILE`.
#include "tool/kernel/case_file.hpp"

#include <yaml-cpp/yaml.h>

#include "support/nearest.hpp"

namespace kiln::tool {
namespace {

constexpr std::size_t kLongestCase = 1 << 20;  // bytes
const std::vector<std::string> kCaseKeys{"kernel", "options", "group",  "groups",    "global", "arguments",
                                         "local",  "save",    "expect", "tolerance", "seed",   "device"};

/// What yaml-cpp throws is turned into this once.
struct CaseMistake {
  std::size_t line;
  std::string message;
  std::vector<std::string> help;
};

std::size_t line_of(const YAML::Node& node) {
  return node.Mark().is_null() ? 0 : static_cast<std::size_t>(node.Mark().line) + 1;
}

std::string scalar_of(const YAML::Node& node, const std::string& key) {
  if (!node.IsScalar()) throw CaseMistake{line_of(node), "`" + key + "` is one value", {}};
  return node.Scalar();
}

/// A value, or a list of them: with commas between.
std::string words_of_case(const YAML::Node& node, const std::string& key) {
  if (!node.IsSequence()) return scalar_of(node, key);
  std::string text;
  for (const YAML::Node& each : node) text += (text.empty() ? "" : ",") + scalar_of(each, key);
  return text;
}

void add_named(const YAML::Node& map, const std::string& key, std::vector<std::string>& to) {
  if (!map.IsMap())
    throw CaseMistake{line_of(map), "`" + key + "` has no names", {"give a line NAME: SPEC for each"}};
  for (const auto& each : map) {
    const std::string name = scalar_of(each.first, key);
    to.push_back(name + "=" + words_of_case(each.second, key + "." + name));
  }
}

double number_of(const YAML::Node& node, const std::string& key, double most) {
  const std::string text = scalar_of(node, key);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(value >= 0 && value <= most))
    throw CaseMistake{line_of(node), "`" + key + "` is no number from 0 on: `" + text + "`", {}};
  return value;
}

RunOptions options_of(const YAML::Node& root, RunOptions options) {
  if (!root.IsMap()) throw CaseMistake{1, "it is no list of keys", {"begin with `kernel: FILE.cl:KERNEL`"}};
  for (const auto& each : root) {
    const std::string key = scalar_of(each.first, "a key");
    const YAML::Node& value = each.second;
    if (key == "kernel") {
      options.kernel = scalar_of(value, key);
    } else if (key == "options") {
      options.flags = scalar_of(value, key);
    } else if (key == "group") {
      if (options.group_extent.empty()) options.group_extent = words_of_case(value, key);
    } else if (key == "groups") {
      if (options.groups.empty()) options.groups = words_of_case(value, key);
    } else if (key == "global") {
      if (options.global.empty()) options.global = words_of_case(value, key);
    } else if (key == "arguments") {
      add_named(value, key, options.arguments);
    } else if (key == "local") {
      add_named(value, key, options.locals);
    } else if (key == "save") {
      add_named(value, key, options.saves);
    } else if (key == "expect") {
      add_named(value, key, options.expects);
    } else if (key == "tolerance") {
      options.tolerance = number_of(value, key, 1e30);
    } else if (key == "seed") {
      options.seed = static_cast<std::uint32_t>(number_of(value, key, UINT32_MAX));
    } else if (key == "device") {
      if (options.device.empty()) options.device = scalar_of(value, key);
    } else {
      auto help = detail::did_you_mean(key, kCaseKeys);
      help.emplace_back(
          "keys are kernel, arguments, local, groups, group, global, options, expect, tolerance, save, seed "
          "and device");
      throw CaseMistake{line_of(each.first), "there is no key `" + key + "`", std::move(help)};
    }
  }
  return options;
}

}  // namespace

bool is_case_file(const std::string& path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

Error bad_case(const std::string& path, std::size_t line, std::string message,
               std::vector<std::string> help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "kiln run",
               {"K0433",
                "`" + path + "`" + (line ? ", line " + std::to_string(line) : "") + ": " + std::move(message),
                {},
                std::move(help)});
}

Result<RunOptions> parse_case(std::string_view text, const std::string& path, RunOptions options) {
  const auto refuse = [&](std::size_t line, std::string message, std::vector<std::string> help) {
    help.emplace_back("docs/run-your-kernel.md shows a whole one");
    return tl::unexpected(bad_case(path, line, std::move(message), std::move(help)));
  };
  if (text.size() > kLongestCase) return refuse(0, "it is longer than a description can be", {});
  // An alias of an alias of … costs its reader what its writer did not write.
  for (const char each : {'&', '*'})
    if (const auto at = text.find(each);
        at != text.npos && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '[') && at + 1 < text.size() &&
        std::isalnum(static_cast<unsigned char>(text[at + 1])))
      return refuse(0, "anchors and aliases are not taken here",
                    {"write out what they stand for, or quote the text"});
  options.kernel.clear();
  try {
    options = options_of(YAML::Load(std::string(text)), std::move(options));
  } catch (const CaseMistake& mistake) {
    return refuse(mistake.line, mistake.message, mistake.help);
  } catch (const YAML::Exception& error) {
    const std::size_t line = error.mark.is_null() ? 0 : static_cast<std::size_t>(error.mark.line) + 1;
    return refuse(line, "it is no YAML: " + error.msg, {});
  }
  if (options.kernel.empty()) return refuse(0, "it names no kernel", {"add `kernel: FILE.cl:KERNEL`"});
  if (is_case_file(options.kernel))
    return refuse(0, "its kernel is a description again", {"name a kernel file"});
  options.folder = std::filesystem::path(path).parent_path().string();
  return options;
}

Result<RunOptions> read_case(RunOptions options) {
  const std::string path = options.kernel;
  KILN_TRY(const auto file, read_kernel_file(path));
  return parse_case({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()}, path,
                    std::move(options));
}

}  // namespace kiln::tool
