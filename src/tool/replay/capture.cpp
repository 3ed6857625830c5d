// SPDX-License-Identifier: MIT
#include "tool/replay/capture.hpp"

#include <algorithm>
#include <map>

#include "support/digits.hpp"

namespace kiln::tool {
namespace {

constexpr std::string_view kFormat = "kiln capture 1", kAnyFormat = "kiln capture ";
constexpr std::uint64_t kMostArguments = 4096, kMostMemory = std::uint64_t{1} << 40;
constexpr std::size_t kLongestDescription = 1 << 20;  // bytes; with 4096 arguments it has some hundred KiB

using Members = std::map<std::string, std::span<const std::byte>, std::less<>>;

/// A description that says what cannot be.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Error no_capture(const std::string& file, std::string reason, std::string help) {
  return Error(
      ZE_RESULT_ERROR_INVALID_ARGUMENT, "replay",
      {"K0453", "`" + file + "` cannot be replayed", {{"reason", std::move(reason)}}, {std::move(help)}});
}

std::span<const std::byte> member(const Members& members, const std::string& name) {
  const auto found = members.find(name);
  if (found == members.end()) throw Wrong("there is no member `" + name + "`");
  return found->second;
}

std::vector<std::byte> bytes_of(const std::string& digits) {
  std::vector<std::byte> bytes;
  const auto value_of = [](char digit) -> int {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    throw Wrong("a value has other than hexadecimal digits");
  };
  if (digits.size() % 2) throw Wrong("a value ends inside a byte");
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(value_of(digits[i]) * 16 + value_of(digits[i + 1])));
  return bytes;
}

bool is_letter_or_digit(char each) {
  return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9');
}

Extent extent_of(const Json& json) {
  if (json.size() != 3) throw Wrong("an extent has other than three dimensions");
  return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>(), json.at(2).get<std::uint32_t>()};
}

MemoryKind kind_of(const std::string& text) {
  if (text == "device") return MemoryKind::device;
  if (text == "host") return MemoryKind::host;
  if (text == "shared") return MemoryKind::shared;
  throw Wrong("there is no memory of kind `" + text + "`");
}

CapturedMemory memory_of(const Json& json, const Members& members, CaptureEntry::End end) {
  CapturedMemory memory{kind_of(json.at("kind").get<std::string>()), json.at("size").get<std::uint64_t>()};
  if (memory.size == 0 || memory.size > kMostMemory) throw Wrong("memory of an impossible size");
  if (end == CaptureEntry::End::refused) return memory;
  memory.before = member(members, json.at("before").get<std::string>());
  if (end == CaptureEntry::End::ended)
    memory.after =
        json.contains("after") ? member(members, json.at("after").get<std::string>()) : memory.before;
  if (memory.before->size() != memory.size || (memory.after && memory.after->size() != memory.size))
    throw Wrong("memory has another size than what was in it");
  return memory;
}

CapturedArgument argument_of(const Json& json, const std::vector<CapturedMemory>& memory) {
  using Form = CapturedArgument::Form;
  CapturedArgument argument;
  if (json.contains("value")) {
    argument.form = Form::value;
    argument.value = bytes_of(json.at("value").get<std::string>());
    if (argument.value.empty()) throw Wrong("a value of no bytes");
  } else if (json.contains("local")) {
    argument.form = Form::local;
    argument.local_bytes = json.at("local").get<std::uint64_t>();
  } else if (json.contains("null")) {
    argument.form = Form::null;
    argument.null_bytes = json.value("size", std::uint64_t{sizeof(void*)});
  } else if (json.contains("memory")) {
    argument.form = Form::memory;
    argument.memory = json.at("memory").get<std::size_t>();
    argument.offset = json.at("offset").get<std::uint64_t>();
    if (argument.memory >= memory.size() || argument.offset >= memory[argument.memory].size)
      throw Wrong("an argument points beside the memory");
  }
  return argument;
}

void read_module(const Json& json, const Members& members, CaptureEntry& entry) {
  const auto format = json.at("format").get<std::string>();
  if (format == "native")
    entry.format = ModuleFormat::native;
  else if (format == "opencl_c")
    entry.format = ModuleFormat::opencl_c;
  else if (format != "spirv")
    throw Wrong("there are no modules in `" + format + "`");
  entry.code_member = json.at("file").get<std::string>();
  entry.code = member(members, entry.code_member);
  entry.flags = json.at("flags").get<std::string>();
  for (const Json& each : json.at("constants"))
    entry.constants.push_back({each.at("id").get<std::uint32_t>(), each.at("value").get<std::uint64_t>()});
}

/// `room`: bytes of all members.
CaptureEntry entry_of(const Json& json, const Members& members, std::uint64_t room, std::uint64_t number) {
  CaptureEntry entry;
  entry.number = number;
  const auto what = json.at("what").get<std::string>();
  if (what != "launch" && what != "build") throw Wrong("it describes `" + what + "`");
  entry.is_launch = what == "launch";
  entry.call = json.at("call").get<std::string>();
  if (entry.call.size() > 100 || !std::ranges::all_of(entry.call, is_letter_or_digit))
    throw Wrong("a call that has no name of one");
  entry.device = json.value("device", "");
  entry.kernel = json.value("kernel", "");
  entry.result = static_cast<ze_result_t>(json.at("result").get<std::uint32_t>());
  read_module(json.at("module"), members, entry);
  if (!entry.is_launch) return entry;
  if (entry.kernel.empty()) throw Wrong("a launch without a kernel");
  entry.launch = json.at("launch").get<std::uint64_t>();
  entry.groups = extent_of(json.at("groups"));
  entry.group_size = extent_of(json.at("group_size"));
  entry.offset = extent_of(json.at("offset"));
  entry.cooperative = json.at("cooperative").get<bool>();
  entry.indirect_access = json.at("indirect_access").get<std::uint32_t>();
  using End = CaptureEntry::End;
  const bool ended = json.at("ended").get<bool>();
  const bool lost = !ended && entry.result == ZE_RESULT_ERROR_DEVICE_LOST && !json.at("memory").empty() &&
                    json.at("memory").at(0).contains("before");
  entry.end = entry.result == ZE_RESULT_SUCCESS ? End::ended : lost ? End::lost : End::refused;
  if ((entry.end == End::ended) != ended) throw Wrong("a launch that ended and was refused");
  for (const Json& each : json.at("memory")) {
    entry.memory.push_back(memory_of(each, members, entry.end));
    const std::uint64_t size = entry.end == End::refused ? 1 : entry.memory.back().size;
    if (size > room || entry.memory.size() > kMostArguments)
      throw Wrong("more memory than there is in the file");
    room -= size;  // no member serves for several memories
  }
  if (json.at("arguments").size() > kMostArguments) throw Wrong("too many arguments");
  for (const Json& each : json.at("arguments")) entry.arguments.push_back(argument_of(each, entry.memory));
  return entry;
}

}  // namespace

Result<CaptureFile> parse_capture(KernelFile file) {
  CaptureFile capture{std::move(file)};
  const std::string& name = capture.file.name;
  std::span<const std::byte> bytes = capture.file.bytes;
  auto read = read_archive(bytes);
  if (!read && read.error().offset > 0 && read.error().message.ends_with("truncated")) {
    capture.is_cut = true;
    bytes = bytes.first(std::min<std::uint64_t>(read.error().offset, bytes.size()));
    read = read_archive(bytes);
  }
  const std::string own = "name a file that `kiln exec --capture FILE` wrote";
  if (!read) return tl::unexpected(no_capture(name, read.error().message, own));
  Members members;
  std::uint64_t room = 0;
  for (const ArchiveMember& each : *read)
    if (members.emplace(each.name, each.content).second) room += each.content.size();
  for (const ArchiveMember& each : *read) {
    const std::string_view text(reinterpret_cast<const char*>(each.content.data()), each.content.size());
    if (!each.name.ends_with(".json")) continue;
    const auto number = detail::parse_digits(std::string_view(each.name).substr(0, each.name.size() - 5));
    const bool is_short = text.size() <= kLongestDescription;
    const auto json = number && is_short ? Json::parse(text) : std::nullopt;
    try {
      if (!is_short) throw Wrong("it is larger than 1 MiB");
      if (!json) throw Wrong("it is no JSON");
      const auto format = json->at("format").get<std::string>();
      if (format != kFormat && format.starts_with(kAnyFormat))
        return tl::unexpected(no_capture(
            name,
            "it is in the format `" + format + "`, and this release reads `" + std::string(kFormat) + "`",
            "replay it with the release of Kiln that wrote it"));
      if (format != kFormat) throw Wrong("it is in no format of Kiln's");
      capture.entries.push_back(entry_of(*json, members, room, *number));
    } catch (const std::runtime_error& error) {
      return tl::unexpected(no_capture(name, "`" + each.name + "`: " + error.what(),
                                       "the file is damaged: capture the program again"));
    }
  }
  if (capture.entries.empty())
    return tl::unexpected(no_capture(name, "there is no launch in it, and no build that was refused", own));
  std::ranges::sort(capture.entries, {}, &CaptureEntry::number);
  return capture;
}

Result<CaptureFile> read_capture(const std::string& path) {
  auto file = read_kernel_file(path);
  if (!file) {
    const Diagnostic* why = file.error().diagnostic();
    return tl::unexpected(no_capture(path,
                                     why && !why->rows.empty() ? why->rows[0].text : "it cannot be read",
                                     "check the path and its rights"));
  }
  if (file->bytes.empty())
    return tl::unexpected(no_capture(path, "it is empty: nothing was captured",
                                     "kiln exec --capture " + path + " -- PROGRAM says why"));
  return parse_capture(*std::move(file));
}

}  // namespace kiln::tool
