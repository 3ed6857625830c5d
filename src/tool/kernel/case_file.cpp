// SPDX-License-Identifier: MIT
// YAML to the options of `kiln run FILE`.
#include "tool/kernel/case_file.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <set>
#include <sstream>

#include "support/digits.hpp"
#include "support/nearest.hpp"
#include "tool/kernel/specification.hpp"

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

/// Refuses what a description has no use for, before anything is made of it: an alias of an alias of … costs
/// its reader what its writer did not write.
class PlainYaml : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1)
      throw CaseMistake{line_of_mark(mark), "a second document begins", {"write it to a file of its own"}};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { look(mark, anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string&) override {
    look(mark, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    look(mark, anchor);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    look(mark, anchor);
  }
  void OnMapEnd() override {}

 private:
  static std::size_t line_of_mark(const YAML::Mark& mark) { return static_cast<std::size_t>(mark.line) + 1; }
  [[noreturn]] static void refuse(const YAML::Mark& mark) {
    throw CaseMistake{line_of_mark(mark),
                      "anchors and aliases are not taken here",
                      {"write out what they stand for, or quote the text"}};
  }
  static void look(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) refuse(mark);
  }

  std::size_t documents_ = 0;
};

void check_plain(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  PlainYaml plain;
  while (parser.HandleNextDocument(plain)) continue;
}

/// The keys of a map, each once.
class KeysOnce {
 public:
  void add(const YAML::Node& key, const std::string& name) {
    if (!seen_.insert(name).second)
      throw CaseMistake{line_of(key), "`" + name + "` is there twice", {"leave one of them out"}};
  }

 private:
  std::set<std::string> seen_;
};

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

/// `null` as it is written, and not a value that is left out.
bool is_null_word(const YAML::Node& node, std::string_view text) {
  if (!node.IsNull() || node.Mark().is_null()) return false;
  const auto at = static_cast<std::size_t>(node.Mark().pos);
  return at < text.size() && (text[at] == '~' || text.substr(at, 4) == "null");
}

/// What is given as NAME: VALUE in `text`. A list of one is a buffer all the same.
void add_named(const YAML::Node& map, const std::string& key, std::string_view text,
               std::vector<std::string>& to) {
  if (!map.IsMap())
    throw CaseMistake{line_of(map), "`" + key + "` has no names", {"give a line NAME: SPEC for each"}};
  KeysOnce keys;
  for (const auto& each : map) {
    const std::string name = scalar_of(each.first, key);
    keys.add(each.first, name);
    const bool is_null = is_null_word(each.second, text);
    if (each.second.IsNull() && !is_null)
      throw CaseMistake{
          line_of(each.first), "`" + key + "." + name + "` has no value", {"a null pointer is `null`"}};
    const bool one = each.second.IsSequence() && each.second.size() == 1;
    to.push_back(name + "=" +
                 (is_null ? "null" : words_of_case(each.second, key + "." + name) + (one ? "," : "")));
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

std::uint32_t seed_of(const YAML::Node& node) {
  const std::string text = scalar_of(node, "seed");
  const auto seed = detail::parse_digits(text);
  if (!seed || *seed > UINT32_MAX)
    throw CaseMistake{line_of(node),
                      "`seed` is no whole number up to " + std::to_string(UINT32_MAX) + ": `" + text + "`",
                      {}};
  return static_cast<std::uint32_t>(*seed);
}

/// What `text` says where the command line does not: `options`.
RunOptions options_of(const std::string& text, const std::filesystem::path& folder, RunOptions options) {
  const YAML::Node root = YAML::Load(text);
  std::vector<std::string> arguments, saves, expects;
  KeysOnce keys;
  if (!root.IsMap()) throw CaseMistake{1, "it is no list of keys", {"begin with `kernel: FILE.cl:KERNEL`"}};
  for (const auto& each : root) {
    const std::string key = scalar_of(each.first, "a key");
    keys.add(each.first, key);
    const YAML::Node& value = each.second;
    if (key == "kernel") {
      options.kernel = scalar_of(value, key);
    } else if (key == "options") {
      if (options.flags.empty()) options.flags = scalar_of(value, key);
    } else if (key == "group") {
      if (options.group_extent.empty()) options.group_extent = words_of_case(value, key);
    } else if (key == "groups") {
      if (options.groups.empty()) options.groups = words_of_case(value, key);
    } else if (key == "global") {
      if (options.global.empty()) options.global = words_of_case(value, key);
    } else if (key == "arguments") {
      add_named(value, key, text, arguments);
    } else if (key == "local") {
      add_named(value, key, text, options.locals);
    } else if (key == "save") {
      add_named(value, key, text, saves);
    } else if (key == "expect") {
      add_named(value, key, text, expects);
    } else if (key == "tolerance") {
      const double tolerance = number_of(value, key, 1e30);
      if (!options.tolerance) options.tolerance = tolerance;
    } else if (key == "seed") {
      const std::uint32_t seed = seed_of(value);
      if (!options.seed) options.seed = seed;
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
  // What a description names lies beside it, what the command line names in the current folder.
  if (!options.kernel.empty()) options.kernel = (folder / options.kernel).string();
  for (const std::string& each : arguments) options.arguments.push_back(with_folder(each, folder));
  for (const std::string& each : expects) options.expects.push_back(with_folder(each, folder));
  for (const std::string& each : saves) {
    const auto file = each.find('=') + 1;
    options.saves.push_back(each.substr(0, file) + (folder / each.substr(file)).string());
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
  options.kernel.clear();
  try {
    const std::string whole(text);
    check_plain(whole);
    options = options_of(whole, std::filesystem::path(path).parent_path(), std::move(options));
  } catch (const CaseMistake& mistake) {
    return refuse(mistake.line, mistake.message, mistake.help);
  } catch (const YAML::Exception& error) {
    const std::size_t line = error.mark.is_null() ? 0 : static_cast<std::size_t>(error.mark.line) + 1;
    return refuse(line, "it is no YAML: " + error.msg, {});
  }
  if (options.kernel.empty()) return refuse(0, "it names no kernel", {"add `kernel: FILE.cl:KERNEL`"});
  if (is_case_file(options.kernel))
    return refuse(0, "its kernel is a description again", {"name a kernel file"});
  return options;
}

Result<RunOptions> read_case(RunOptions options) {
  const std::string path = options.kernel;
  KILN_TRY(const auto file, read_kernel_file(path));
  return parse_case({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()}, path,
                    std::move(options));
}

}  // namespace kiln::tool
