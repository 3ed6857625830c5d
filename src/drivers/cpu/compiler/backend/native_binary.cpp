// SPDX-License-Identifier: MIT
// Writes and checks the frame of native binaries.
#include "drivers/cpu/compiler/backend/native_binary.hpp"

#include <llvm/Config/llvm-config.h>
#include <xxhash.h>

#include <array>
#include <cstring>

#include "drivers/cpu/compiler/backend/codegen.hpp"
#include "drivers/cpu/compiler/lowering/kernel_entry.hpp"
#include "drivers/cpu/runtime/work_item.hpp"
#include "support/build_id.hpp"

namespace kiln::cpu {
namespace {

// The last bytes of a native binary, little-endian.
struct Trailer {
  std::array<char, 8> magic;
  std::uint64_t object_size;  // bytes before the trailer
  Identity identity;
  std::array<unsigned char, 16> checksum;  // XXH3-128, canonical form, of everything before it
};
static_assert(sizeof(Trailer) == 56);
constexpr std::array<char, 8> kMagic = {'K', 'i', 'l', 'n', 'C', 'P', 'U', '\1'};

std::array<unsigned char, 16> checksum_of(std::span<const std::byte> bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  std::array<unsigned char, 16> out;
  std::memcpy(out.data(), canonical.digest, out.size());
  return out;
}

std::uint64_t hash(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

// A YAML string in double quotes.
std::string yaml_text(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (byte < 0x20 || byte == 0x7f) {
      out.append({'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]});
    } else {
      out.push_back(c);
    }
  }
  return out + '"';
}

void write_argument(std::string& out, const ArgumentFacts& argument, std::size_t index, std::size_t offset) {
  const bool is_value = argument.kind == ArgumentKind::value;
  out += is_value ? "      - arg_type:        arg_byvalue\n" : "      - arg_type:        arg_bypointer\n";
  out += "        offset:          " + std::to_string(offset) + "\n";
  out += "        size:            " + std::to_string(argument.size) + "\n";
  out += "        arg_index:       " + std::to_string(index) + "\n";
  if (is_value) return;
  const bool is_local = argument.kind == ArgumentKind::local_pointer;
  out += is_local ? "        addrmode:        slm\n        addrspace:       local\n"
                  : "        addrmode:        stateless\n        addrspace:       global\n";
  out += "        access_type:     readwrite\n";
  if (is_local) out += "        slm_alignment:   " + std::to_string(argument.local_alignment) + "\n";
}

// Intel's compiler lists the source arguments of each kernel here, used or not; readers take it for the whole
// list.
void write_source_arguments(std::string& out, const KernelFacts& kernel) {
  out += "  - name:            " + yaml_text(kernel.name) + "\n    args_info:\n";
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const ArgumentFacts& argument = kernel.arguments[i];
    const bool is_value = argument.kind == ArgumentKind::value,
               is_local = argument.kind == ArgumentKind::local_pointer;
    out += "      - index:           " + std::to_string(i) + "\n";
    out += "        name:            " + yaml_text(argument.name) + "\n";
    out += "        address_qualifier: " +
           std::string(is_value   ? "__private"
                       : is_local ? "__local"
                                  : "__global") +
           "\n";
    out += "        access_qualifier: NONE\n";
    out += "        type_name:       " +
           yaml_text((is_value ? "value;" : "pointer;") + std::to_string(argument.size)) + "\n";
    out += "        type_qualifiers: NONE\n";
  }
}

}  // namespace

std::string write_ze_info(std::span<const KernelFacts> kernels) {
  std::string out = "---\nversion:         '1.20'\nkernels:\n";
  for (const KernelFacts& kernel : kernels) {
    out += "  - name:            " + yaml_text(kernel.name) + "\n    execution_env:\n";
    out += "      barrier_count:   " + std::to_string(kernel.barrier_count) + "\n";
    out += "      grf_count:       128\n";
    const auto& size = kernel.required_group_size;
    if (size[0] != 0)
      out += "      required_work_group_size: [ " + std::to_string(size[0]) + ", " + std::to_string(size[1]) +
             ", " + std::to_string(size[2]) + " ]\n";
    if (kernel.required_sub_group_size != 0)
      out += "      required_sub_group_size: " + std::to_string(kernel.required_sub_group_size) + "\n";
    out += "      simd_size:       " + std::to_string(kernel.simd_size) + "\n";
    out += "      has_4gb_buffers: true\n";  // addresses are the host's
    out += "      slm_size:        " + std::to_string(kernel.static_slm) + "\n";
    if (kernel.private_size != 0)
      out += "      private_size:    " + std::to_string(kernel.private_size) + "\n";
    if (!kernel.arguments.empty()) {
      out += "    payload_arguments:\n";
      const std::vector<std::size_t> offsets = argument_offsets(kernel);
      for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
        write_argument(out, kernel.arguments[i], i, offsets[i]);
    }
    if (kernel.private_size != 0)
      out +=
          "    per_thread_memory_buffers:\n      - type:            scratch\n        usage:           "
          "private_space\n"
          "        size:            " +
          std::to_string(kernel.private_size) + "\n";
  }
  out += "kernels_misc_info:\n";
  for (const KernelFacts& kernel : kernels)
    if (!kernel.arguments.empty()) write_source_arguments(out, kernel);
  return out + "...\n";
}

// Another driver compiles other code, be it of the same version: so its build-id is part of the identity.
Identity host_identity() {
  static const Identity identity = {
      hash(LLVM_VERSION_STRING),
      hash(KILN_VERSION + std::string("/") + std::to_string(kAbiVersion) + "/" +
           detail::build_id_at(reinterpret_cast<const void*>(&host_format))),
      hash(host_cpu().name + "/" + host_cpu().features),
  };
  return identity;
}

std::array<std::uint8_t, 16> host_format() {
  const Identity identity = host_identity();
  const XXH128_hash_t sum = XXH3_128bits(&identity, sizeof identity);
  std::array<std::uint8_t, 16> format;
  std::memcpy(format.data(), &sum, sizeof format);
  return format;
}

std::vector<std::byte> seal(std::span<const char> object) {
  std::vector<std::byte> out(object.size() + sizeof(Trailer));
  std::memcpy(out.data(), object.data(), object.size());
  Trailer trailer = {kMagic, object.size(), host_identity(), {}};
  std::memcpy(out.data() + object.size(), &trailer, sizeof trailer);
  trailer.checksum = checksum_of(std::span(out).first(out.size() - sizeof trailer.checksum));
  std::memcpy(out.data() + object.size(), &trailer, sizeof trailer);
  return out;
}

std::span<const std::byte> unseal(std::span<const std::byte> binary, std::string& log) {
  const auto refuse = [&](std::string_view reason) -> std::span<const std::byte> {
    log.append("error: native binary: ").append(reason).append("\n");
    return {};
  };
  Trailer trailer;
  if (binary.size() < sizeof trailer) return refuse("too short to be one of the CPU device");
  std::memcpy(&trailer, binary.data() + binary.size() - sizeof trailer, sizeof trailer);
  if (trailer.magic != kMagic) return refuse("not one of the CPU device, or cut off");
  if (trailer.object_size != binary.size() - sizeof trailer)
    return refuse("its size is not the size it was made with");
  const Identity host = host_identity();
  if (trailer.identity.compiler != host.compiler)
    return refuse("made with another LLVM version than " LLVM_VERSION_STRING);
  if (trailer.identity.driver != host.driver)
    return refuse("made by another build of the CPU driver than this one, " KILN_VERSION);
  if (trailer.identity.cpu != host.cpu)
    return refuse("made for another CPU than " + host_cpu().name + " with its features");
  if (trailer.checksum != checksum_of(binary.first(binary.size() - sizeof trailer.checksum)))
    return refuse("damaged, its checksum does not match");
  return binary.first(trailer.object_size);
}

}  // namespace kiln::cpu
