// SPDX-License-Identifier: MIT
// Calls libiga64's C interface. No distribution packages its headers: names, structs and numbers are those of
// visa/iga/IGALibrary/api/iga.h of intel/intel-graphics-compiler, the same from 1.0.12504 to 2.40.
#include "xe/disassembler.hpp"

#include <dlfcn.h>

#include <array>

namespace kiln::xe {
namespace iga {

using Context = void*;

struct ContextOptions {
  std::size_t size = sizeof(ContextOptions);
  std::uint32_t instruction_set = 0;
};

struct DisassembleOptions {
  std::uint32_t size = sizeof(DisassembleOptions);
  std::uint32_t format = 0;  // the default, which is that of ocloc
  std::array<std::uint32_t, 2> reserved{};
  std::uint32_t decoder = 0;
  std::uint32_t base = 0;  // bytes, added to offsets in the text
};
static_assert(sizeof(DisassembleOptions) == 24);

constexpr std::uint32_t kHexFloats = 4;

enum Status : std::int32_t { kSuccess = 0, kUnsupportedPlatform = 10 };

using Labeler = const char* (*)(std::int32_t, void*);

}  // namespace iga

namespace {

using namespace iga;

constexpr std::uint32_t xe_number(std::uint32_t major, std::uint32_t minor) { return major << 24 | minor; }

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

/// The first reason that stands behind an instruction in the text; empty: none.
std::string first_reason(const std::string& text) {
  constexpr std::string_view kComment = "// ";
  for (std::size_t at = text.find("illegal "); at != text.npos; at = text.find("illegal ", at + 1)) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::size_t comment = text.find(kComment, at);
    if (comment >= end) continue;
    std::string reason = text.substr(comment + kComment.size(), end - comment - kComment.size());
    if (const auto repeated = reason.find("; "); repeated != reason.npos) reason.resize(repeated);
    return reason;
  }
  return {};
}

}  // namespace

struct Disassembler::Functions {
  std::int32_t (*create)(const iga::ContextOptions*, iga::Context*) = nullptr;
  std::int32_t (*release)(iga::Context) = nullptr;
  std::int32_t (*disassemble)(iga::Context, const iga::DisassembleOptions*, const void*, std::uint32_t,
                              iga::Labeler, void*, char**) = nullptr;
  std::int32_t (*disassemble_one)(iga::Context, const iga::DisassembleOptions*, const void*, iga::Labeler,
                                  void*, char**) = nullptr;
  const char* (*version)() = nullptr;
};

std::uint32_t instruction_set(const Target& target) {
  switch (target.architecture) {
    case 12:
      if (target.release < 50) return xe_number(1, 0);
      if (target.release == 50) return xe_number(1, 1);
      return target.release == 60 || target.release == 61 ? xe_number(1, 4) : xe_number(1, 2);
    case 20:
      return xe_number(2, 0);
    case 30:
      return xe_number(3, 0);
    case 35:
      return xe_number(3, 3);
    default:
      return 0;
  }
}

Diagnostic NoText::diagnostic(const std::string& what) const {
  std::vector<DiagnosticRow> because;
  if (!reason.empty()) because.push_back({.label = "reason", .text = reason});
  switch (kind) {
    case Kind::no_library:
    case Kind::not_the_library:
      return {"K0440",
              "native code cannot be decoded: libiga64 cannot be used",
              because,
              {"install Intel's graphics compiler, which has it: `apt install libigc1` on Debian 12, `apt "
               "install libigc2` on Debian testing and newer Ubuntu"}};
    case Kind::unknown_target:
      return {"K0440",
              "native code cannot be decoded: this release of libiga64 does not know the product",
              {{"code", what}, {"reason", reason}},
              {"install the graphics compiler of a driver for that product: `apt install libigc2` on Debian "
               "testing and newer Ubuntu"}};
    case Kind::timed_out:
      return {"K0441",
              what + " has code that takes too long to decode",
              because,
              {"give it more time with --timeout, in seconds"}};
    case Kind::undecodable:
    case Kind::unexpected_text:
    case Kind::ended:
      break;
  }
  return {"K0441",
          what + (kind == Kind::unexpected_text ? " has code that Kiln does not understand"
                                                : " has code that cannot be decoded"),
          because,
          {"build the file again, or copy it again from where it was built",
           "`ocloc disasm` shows what can be read of it"}};
}

tl::expected<Disassembler, NoText> Disassembler::open() {
  // Beside a driver stands the one of its own generation; libigc1 has the first name, libigc2 the second.
  constexpr std::array kNames{"libiga64.so.2", "libiga64.so.1"};
  std::string reason;
  for (const char* name : kNames) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char* said = dlerror();
      if (reason.empty() && said) reason = said;
      continue;
    }
    static Functions functions;  // of one library: the process has no use for two
    if (find(library, "iga_context_create", functions.create) &&
        find(library, "iga_context_release", functions.release) &&
        find(library, "iga_context_disassemble", functions.disassemble) &&
        find(library, "iga_context_disassemble_instruction", functions.disassemble_one) &&
        find(library, "iga_version_string", functions.version))
      return Disassembler(&functions);
    return tl::unexpected(
        NoText{NoText::Kind::not_the_library, std::string(name) + " lacks functions of its C interface"});
  }
  return tl::unexpected(NoText{NoText::Kind::no_library, reason});
}

tl::expected<std::string, NoText> Disassembler::text(std::span<const std::byte> code,
                                                     std::uint32_t instruction_set) const {
  const ContextOptions options{.instruction_set = instruction_set};
  Context context = nullptr;
  if (const auto status = functions_->create(&options, &context); status != kSuccess)
    return tl::unexpected(
        NoText{NoText::Kind::unknown_target, "libiga64 " + version() + " does not have its instructions"});
  const auto release = [this](void* each) { functions_->release(each); };
  const std::unique_ptr<void, decltype(release)> owner(context, release);
  if (code.size() > UINT32_MAX) return tl::unexpected(NoText{NoText::Kind::undecodable, "more than 4 GiB"});
  const DisassembleOptions format;
  char* text = nullptr;
  const auto status = functions_->disassemble(
      context, &format, code.data(), static_cast<std::uint32_t>(code.size()), nullptr, nullptr, &text);
  std::string copy = text ? text : "";
  if (status == kSuccess) return copy;
  if (status == kUnsupportedPlatform) return tl::unexpected(NoText{NoText::Kind::unknown_target, {}});
  std::string reason = first_reason(copy);
  if (reason.empty()) reason = "libiga64 gave status " + std::to_string(status);
  return tl::unexpected(NoText{NoText::Kind::undecodable, std::move(reason)});
}

tl::expected<std::string, NoText> Disassembler::line(std::span<const std::byte, 16> code,
                                                     std::uint32_t instruction_set) const {
  const ContextOptions options{.instruction_set = instruction_set};
  Context context = nullptr;
  if (const auto status = functions_->create(&options, &context); status != kSuccess)
    return tl::unexpected(
        NoText{NoText::Kind::unknown_target, "libiga64 " + version() + " does not have its instructions"});
  const DisassembleOptions format{.format = kHexFloats};
  char* text = nullptr;
  const auto status = functions_->disassemble_one(context, &format, code.data(), nullptr, nullptr, &text);
  std::string copy = status == kSuccess && text ? text : "";
  functions_->release(context);
  return copy;
}

std::string Disassembler::version() const {
  const char* text = functions_->version();
  return text ? text : "";
}

}  // namespace kiln::xe
