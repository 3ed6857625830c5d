// SPDX-License-Identifier: MIT
// A hardware thread for one test: instructions as text, assembled by libiga64, registers in and out.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdio>
#include <random>

#include "xe/disassembler.hpp"
#include "xe/native_run.hpp"

namespace kiln::test {

inline std::vector<std::byte> assemble(const std::string& text, std::uint32_t set) {
  struct ContextOptions {
    std::size_t size = sizeof(ContextOptions);
    std::uint32_t set = 0;
  } context_options{.set = set};
  struct AssembleOptions {
    std::uint32_t size = sizeof(AssembleOptions);
    std::uint32_t words[7]{};
  } options;
  static void* library = [] {
    void* found = dlopen("libiga64.so.2", RTLD_NOW);
    return found ? found : dlopen("libiga64.so.1", RTLD_NOW);
  }();
  if (!library) return {};
  const auto find = [](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  std::int32_t (*create)(const ContextOptions*, void**) = nullptr;
  std::int32_t (*release)(void*) = nullptr;
  std::int32_t (*make)(void*, const AssembleOptions*, const char*, void**, std::uint32_t*) = nullptr;
  find("iga_context_create", create);
  find("iga_context_release", release);
  find("iga_context_assemble", make);
  void *context = nullptr, *code = nullptr;
  std::uint32_t size = 0;
  if (create(&context_options, &context) != 0) return {};
  std::vector<std::byte> bytes;
  if (make(context, &options, text.c_str(), &code, &size) == 0)
    bytes.assign(static_cast<std::byte*>(code), static_cast<std::byte*>(code) + size);
  release(context);
  return bytes;
}

inline constexpr std::uint32_t kGrf = 32, kFirst = 2;  ///< of Xe-HPG, in bytes; the first one that comes back
inline constexpr std::uint32_t kStored = 768;          ///< bytes of what comes back

struct Machine {
  explicit Machine(const char* of = "dg2")
      : product(of), grf(std::string(of) == "pvc" ? 64 : kGrf), registers(128 * grf) {}
  const char* product;
  std::uint32_t grf;  ///< bytes of a register
  std::vector<std::byte> registers;
  std::uint32_t active = 0xffff, slm_bytes = 0;
  std::uint8_t unwritten = 0;  ///< what other registers hold
  FlatBus bus{};               ///< what messages of the lines reach
  template <class T>
  T get(std::uint32_t at) const {
    T value;
    std::memcpy(&value, registers.data() + at, sizeof value);
    return value;
  }
  template <class T>
  void put(std::uint32_t at, T value) {
    std::memcpy(registers.data() + at, &value, sizeof value);
  }

  /// Executes the lines; 768 bytes from r2 on are as they are behind them, the flag f0 in the answer.
  std::uint32_t run(const std::string& lines) {
    const Target* target = find_target(product);
    const bool older = std::string(product) == "tgllp";
    const std::uint32_t piece = older ? 128 : 256;  // bytes that a message stores
    std::string text = lines + "(W) mov (1|M0) r1.0<1>:ud f0.0<0;1,0>:ud\n";
    for (std::uint32_t i = 0; i < kStored / piece; ++i) {
      const std::string from = std::to_string(120 + i), what = std::to_string(kFirst + piece / grf * i);
      text +=
          older ? "(W) send.dc1 (8|M0) null r" + from + " r" + what + " 0x100 0x020D44FF {$0}\n"  // 8 owords
                : "(W) send.ugm (1|M0) null r" + from + " r" + what + ":" + std::to_string(piece / grf) +
                      " 0x0 0x0200F584 {$0}\n";  // store.ugm.d32x64t.a64
    }
    text += older ? "(W) send.dc1 (8|M0) null r126 r1 0x40 0x020D40FF {$0}\n"  // an oword
                    "(W) send.ts (8|M0) null r127 null 0x0 0x02000010 {EOT}\n"
                  : "(W) send.ugm (1|M0) null r126 r1:1 0x0 0x02008584 {$0}\n"  // store.ugm.d32x1t.a64
                    "(W) send.gtwy (8|M0) null r127 null:0 0x0 0x02000010 {EOT}\n";
    const auto code = assemble(text, xe::instruction_set(*target));
    REQUIRE_MESSAGE(!code.empty(), lines);
    const auto decoded = xe::Code::decode(*target, code, 0);
    REQUIRE(decoded);
    const std::uint64_t out = bus.add(4096);
    for (std::uint32_t i = 0; i < 6; ++i) put<std::uint64_t>((120 + i) * grf, out + std::uint64_t{piece} * i);
    put<std::uint64_t>(126 * grf, out + kStored);
    const std::vector<xe::ThreadStart> starts{{.payload = registers, .dispatch_mask = active}};
    const xe::Group group{.register_bytes = grf,
                          .slm_bytes = slm_bytes,
                          .control = 0x4c0,
                          .unwritten = unwritten,
                          .threads = starts};
    const auto fault = xe::run_group(**decoded, group, bus);
    REQUIRE_MESSAGE(!fault, (fault ? fault->text : ""));
    std::memcpy(registers.data() + kFirst * grf, bus.bytes(out).data(), kStored);
    std::uint32_t flag = 0;
    std::memcpy(&flag, bus.bytes(out).data() + kStored, sizeof flag);
    return flag;
  }
};

inline std::mt19937 random_number(7);

inline void fill(Machine& machine) {
  for (auto& each : machine.registers)
    each = static_cast<std::byte>(random_number() % 3 ? random_number() : 0);
}

}  // namespace kiln::test
