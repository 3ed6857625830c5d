// SPDX-License-Identifier: MIT
// Of the C interface: what kernel files say.
#include "capi/facts.hpp"

namespace kiln_c {

Result<const BinaryPart*> part_of(const char* call, const FileObject& file, std::uint32_t part) {
  if (part >= file.parts.size()) return tl::unexpected(out_of_range(call, "part", part, file.parts.size()));
  return &file.parts[part];
}

Result<const KernelFacts*> kernel_of(const char* call, const FileObject& file, std::uint32_t part,
                                     std::uint32_t kernel) {
  KILN_TRY(const BinaryPart* found, part_of(call, file, part));
  const std::size_t count = found->facts ? found->facts->kernels.size() : 0;
  if (kernel >= count) return tl::unexpected(out_of_range(call, "kernel", kernel, count));
  return &found->facts->kernels[kernel];
}

std::span<const std::byte> code_of(const FileObject& file, std::uint32_t part) {
  std::span<const std::byte> code = file.bytes;
  if (identify(code) == BinaryFormat::archive) {
    const auto members = read_archive(code);
    if (!members || part >= members->size()) return {};
    code = (*members)[part].content;
  }
  // The `generic_ir` of a fat binary is wrapped.
  const bool wrapped =
      file.parts[part].format == BinaryFormat::spirv && identify(code) != BinaryFormat::spirv;
  return wrapped ? embedded_spirv(code) : code;
}

kiln_kernel_info kernel_info(const KernelFacts& facts) {
  kiln_kernel_info info = KILN_INIT(kiln_kernel_info);
  info.name = facts.name.c_str();
  info.static_slm = facts.static_slm;
  info.private_per_thread = facts.private_per_thread;
  std::ranges::copy(facts.scratch_per_thread, info.scratch_per_thread);
  info.arguments = static_cast<std::uint32_t>(facts.arguments.size());
  const auto flag = [&](bool set, std::uint32_t value) { info.flags |= set ? value : 0; };
  flag(facts.arguments_known, KILN_KERNEL_ARGUMENTS_KNOWN);
  flag(facts.has_stack_calls, KILN_KERNEL_STACK_CALLS);
  flag(facts.has_printf, KILN_KERNEL_PRINTF);
  flag(facts.has_global_atomics, KILN_KERNEL_GLOBAL_ATOMICS);
  flag(facts.needs_sync_buffer, KILN_KERNEL_COOPERATIVE);
  flag(facts.has_4gb_buffers, KILN_KERNEL_LARGE_BUFFERS);
  flag(facts.is_invalid, KILN_KERNEL_INVALID);
  std::ranges::copy(facts.required_group_size, info.required_group_size);
  std::ranges::copy(facts.group_size_hint, info.group_size_hint);
  info.required_sub_group_size = facts.required_sub_group_size;
  info.simd_size = facts.simd_size;
  info.grf_count = facts.grf_count;
  info.barriers = facts.barrier_count;
  info.private_size = facts.private_size;
  info.spill_size = facts.spill_size;
  return info;
}

kiln_argument_info argument_info(const ArgumentFacts& facts) {
  static_assert(KILN_ARGUMENT_VALUE == static_cast<int>(ArgumentKind::value) &&
                KILN_ARGUMENT_POINTER == static_cast<int>(ArgumentKind::global_pointer) &&
                KILN_ARGUMENT_LOCAL == static_cast<int>(ArgumentKind::local_pointer) &&
                KILN_ARGUMENT_OTHER == static_cast<int>(ArgumentKind::other) &&
                KILN_ARGUMENT_IMAGE == static_cast<int>(ArgumentKind::image) &&
                KILN_ARGUMENT_SAMPLER == static_cast<int>(ArgumentKind::sampler));
  kiln_argument_info info = KILN_INIT(kiln_argument_info);
  info.name = facts.name.c_str();
  info.kind = static_cast<std::uint32_t>(facts.kind);
  info.size = facts.size;
  info.local_alignment = facts.kind == ArgumentKind::local_pointer ? facts.local_alignment : 0;
  return info;
}

namespace {

Result<void> give_file(const char* call, std::string name, std::vector<std::byte> bytes, kiln_file* out) {
  auto file = std::make_shared<FileObject>(FileObject{{}, std::move(name), std::move(bytes), {}});
  file->parts = read_parts(file->bytes);
  return give(call, std::move(file), out);
}

}  // namespace
}  // namespace kiln_c

using namespace kiln_c;

kiln_result kiln_file_read(const char* path, kiln_file* file, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "file", file));
    KILN_TRY(const std::string place, text(call, "path", path));
    KILN_TRY(auto read, read_kernel_file(place));
    return give_file(call, std::move(read.name), std::move(read.bytes), file);
  });
}

kiln_result kiln_file_from_memory(const char* name, const void* bytes, size_t size, kiln_file* file,
                                  kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "file", file));
    KILN_TRY(std::string known, optional_text(call, "name", name));
    KILN_TRY(std::vector<std::byte> copy, copy_of(call, "bytes", bytes, size));
    return give_file(call, std::move(known), std::move(copy), file);
  });
}

kiln_result kiln_file_part_count(kiln_file file, uint32_t* count, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const FileObject* object, get<FileObject>(call, file));
    if (!count) return tl::unexpected(null_parameter(call, "count"));
    *count = static_cast<std::uint32_t>(object->parts.size());
    return {};
  });
}

kiln_result kiln_file_part(kiln_file file, uint32_t part, kiln_part_info* info, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    static_assert(KILN_FORMAT_SPIRV == static_cast<int>(BinaryFormat::spirv) &&
                  KILN_FORMAT_ELF == static_cast<int>(BinaryFormat::elf) &&
                  KILN_FORMAT_ARCHIVE == static_cast<int>(BinaryFormat::archive) &&
                  KILN_FORMAT_PATCH_TOKENS == static_cast<int>(BinaryFormat::patch_tokens));
    KILN_TRY(const FileObject* object, get<FileObject>(call, file));
    KILN_TRY(const BinaryPart* found, part_of(call, *object, part));
    kiln_part_info known = KILN_INIT(kiln_part_info);
    known.name = found->name.c_str();
    known.target = known.unreadable = "";
    known.format = static_cast<std::uint32_t>(found->format);
    if (!found->facts) {
      known.unreadable = found->facts.error().message.c_str();
      known.unreadable_at = found->facts.error().offset;
      return write(call, "kiln_part_info", known, info);
    }
    const ModuleFacts& facts = *found->facts;
    if (facts.spirv_version == 0)
      if (const Target* const target = target_of(*found)) known.target = target_info(*target).name;
    known.global_data = facts.global_data;
    known.constant_data = facts.constant_data;
    known.kernels = static_cast<std::uint32_t>(facts.kernels.size());
    known.ip_version = facts.ip_version;
    known.spirv_version = facts.spirv_version;
    return write(call, "kiln_part_info", known, info);
  });
}

kiln_result kiln_file_kernel(kiln_file file, uint32_t part, uint32_t kernel, kiln_kernel_info* info,
                             kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const FileObject* object, get<FileObject>(call, file));
    KILN_TRY(const KernelFacts* facts, kernel_of(call, *object, part, kernel));
    return write(call, "kiln_kernel_info", kernel_info(*facts), info);
  });
}

kiln_result kiln_file_argument(kiln_file file, uint32_t part, uint32_t kernel, uint32_t argument,
                               kiln_argument_info* info, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const FileObject* object, get<FileObject>(call, file));
    KILN_TRY(const KernelFacts* facts, kernel_of(call, *object, part, kernel));
    if (argument >= facts->arguments.size())
      return tl::unexpected(out_of_range(call, "argument", argument, facts->arguments.size()));
    return write(call, "kiln_argument_info", argument_info(facts->arguments[argument]), info);
  });
}

kiln_result kiln_file_find_kernel(kiln_file file, uint32_t part, const char* name, uint32_t* kernel,
                                  kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const FileObject* object, get<FileObject>(call, file));
    KILN_TRY(const BinaryPart* found, part_of(call, *object, part));
    KILN_TRY(const std::string wanted, text(call, "name", name));
    if (!kernel) return tl::unexpected(null_parameter(call, "kernel"));
    Diagnostic missing{"K0208", "`" + object->name + "` has no kernel `" + wanted + "`", {}, {}};
    if (found->facts)
      for (std::size_t i = 0; i < found->facts->kernels.size(); ++i) {
        const std::string& each = found->facts->kernels[i].name;
        missing.rows.push_back({"kernel", each});
        if (each != wanted) continue;
        *kernel = static_cast<std::uint32_t>(i);
        return {};
      }
    missing.help = {"use one of these names"};
    return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_KERNEL_NAME, call, std::move(missing)));
  });
}

void kiln_file_destroy(kiln_file file) { destroy<FileObject>(file); }
