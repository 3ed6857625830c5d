// SPDX-License-Identifier: MIT
// Of the C interface: does a kernel fit a product, what would fit, and how many groups of it run at a time.
#include "capi/facts.hpp"
#include "check/largest.hpp"
#include "kiln/needs.hpp"

namespace kiln_c {
namespace {

using kiln::detail::largest;

/// What a request says of a kernel. Null: nothing.
Result<KernelRequest> request_of(const char* call, const KernelFacts& kernel, const kiln_request* given) {
  KernelRequest request;
  if (!given) return request;
  Input<kiln_request> input;
  KILN_TRY(Input<kiln_request>::read(call, "kiln_request", given, input));
  if (input->group_size.x) request.group_size = extent_of(input->group_size);
  if (input->groups.x) request.groups = extent_of(input->groups);
  if (input->local_count > kernel.arguments.size())
    return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, call, "local_count",
                                        "is " + std::to_string(input->local_count) + ", the kernel has " +
                                            std::to_string(kernel.arguments.size()) + " arguments"));
  if (input->local_count && !input->local_bytes) return tl::unexpected(null_parameter(call, "local_bytes"));
  request.local_bytes.assign(input->local_bytes, input->local_bytes + input->local_count);
  return request;
}

/// `__local` arguments, each with what `bytes_of` says of its number.
template <class BytesOf>
std::uint64_t slm_with(const KernelFacts& kernel, BytesOf bytes_of) {
  std::vector<LaunchArgument> arguments;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const bool local = kernel.arguments[i].kind == ArgumentKind::local_pointer;
    arguments.push_back({kernel.arguments[i].kind, local ? bytes_of(i) : 0, nullptr});
  }
  return total_slm(kernel, arguments);
}

kiln_room room_of(const KernelFacts& kernel, const TargetLimits& limits, const KernelRequest& request) {
  kiln_room room = KILN_INIT(kiln_room);
  const auto asked = [&](std::size_t i) {
    return i < request.local_bytes.size() ? request.local_bytes[i] : std::uint64_t{0};
  };
  room.slm_per_group = limits.slm_per_group;
  room.static_slm = kernel.static_slm;
  room.asked_slm = slm_with(kernel, asked);
  room.max_group_size = max_group_size(kernel, limits);
  const auto first = std::ranges::find(kernel.arguments, ArgumentKind::local_pointer, &ArgumentFacts::kind);
  if (first != kernel.arguments.end()) {
    const auto place = static_cast<std::size_t>(first - kernel.arguments.begin());
    room.local_bytes = largest(limits.slm_per_group, [&](std::uint64_t bytes) {
      return slm_with(kernel, [&](std::size_t i) { return i == place ? bytes : 0; }) <= limits.slm_per_group;
    });
  }
  const std::uint64_t group = request.group_size ? total(*request.group_size) : 0;
  if (group == 0 || group > UINT32_MAX) return room;  // no device takes that many
  // Up to `group`, so nothing wraps round; a part of a work-item's bytes counts as all of them.
  const auto scaled = [&](std::uint64_t bytes, std::uint64_t n) {
    return bytes / group * n + (bytes % group * n + group - 1) / group;
  };
  room.largest_group = static_cast<std::uint32_t>(
      largest(std::min<std::uint64_t>(group, room.max_group_size), [&](std::uint64_t n) {
        return slm_with(kernel, [&](std::size_t i) { return scaled(asked(i), n); }) <= limits.slm_per_group;
      }));
  return room;
}

}  // namespace

FindingsObject::Finding finding(Diagnostic diagnostic) {
  std::string text = to_text(diagnostic), json = to_json(diagnostic);
  return {std::move(diagnostic), std::move(text), std::move(json)};
}

}  // namespace kiln_c

using namespace kiln_c;

kiln_result kiln_check(kiln_file file, uint32_t part, uint32_t kernel, const char* target,
                       const kiln_request* request, kiln_findings* findings, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "findings", findings));
    KILN_TRY(const FileObject* object, get<FileObject>(call, file));
    KILN_TRY(const KernelFacts* facts, kernel_of(call, *object, part, kernel));
    KILN_TRY(const Target* product, target_named(call, target));
    KILN_TRY(const KernelRequest wanted, request_of(call, *facts, request));
    auto found = std::make_shared<FindingsObject>();
    const auto add = [&](Diagnostic diagnostic) {
      found->findings.push_back(finding(std::move(diagnostic)));
    };
    for (Diagnostic& each : check_kernel(*facts, target_limits(*product), wanted)) add(std::move(each));
    const auto code = code_of(*object, part);
    const BinaryFormat format = object->parts[part].format;
    if (auto lacking = explain_symbols(missing_symbols(code), format)) add(*std::move(lacking));
    if (format == BinaryFormat::spirv)
      if (auto lacking = check_features(needed_features(code), target_features(*product)))
        add(*std::move(lacking));
    return give(call, std::move(found), findings);
  });
}

kiln_result kiln_what_fits(kiln_file file, uint32_t part, uint32_t kernel, const char* target,
                           const kiln_request* request, kiln_room* room, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const FileObject* object, get<FileObject>(call, file));
    KILN_TRY(const KernelFacts* facts, kernel_of(call, *object, part, kernel));
    KILN_TRY(const Target* product, target_named(call, target));
    KILN_TRY(const KernelRequest wanted, request_of(call, *facts, request));
    return write(call, "kiln_room", room_of(*facts, target_limits(*product), wanted), room);
  });
}

kiln_result kiln_get_occupancy(kiln_file file, uint32_t part, uint32_t kernel, const char* target,
                               uint64_t group_size, uint64_t slm, kiln_occupancy* occupancy,
                               kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    static_assert(KILN_RESOURCE_SLM == static_cast<int>(Resource::slm) &&
                  KILN_RESOURCE_BARRIERS == static_cast<int>(Resource::barriers));
    KILN_TRY(const FileObject* object, get<FileObject>(call, file));
    KILN_TRY(const KernelFacts* facts, kernel_of(call, *object, part, kernel));
    KILN_TRY(const Target* product, target_named(call, target));
    const Occupancy known = kiln::occupancy(*facts, core_limits(*product), group_size, slm);
    kiln_occupancy result = KILN_INIT(kiln_occupancy);
    result.slm_per_group = known.slm_per_group;
    result.threads_per_group = known.threads_per_group;
    result.threads_per_core = known.threads_per_core;
    result.groups_per_core = known.groups_per_core;
    result.percent = known.percent();
    result.limit = static_cast<std::uint32_t>(known.limit);
    return write(call, "kiln_occupancy", result, occupancy);
  });
}

kiln_result kiln_findings_count(kiln_findings findings, uint32_t* count, uint32_t* errors,
                                kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const FindingsObject* object, get<FindingsObject>(call, findings));
    const auto is_error = [](const FindingsObject::Finding& each) {
      return each.diagnostic.severity == Severity::error;
    };
    if (count) *count = static_cast<std::uint32_t>(object->findings.size());
    if (errors) *errors = static_cast<std::uint32_t>(std::ranges::count_if(object->findings, is_error));
    return {};
  });
}

kiln_result kiln_findings_get(kiln_findings findings, uint32_t index, kiln_finding* finding,
                              kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    static_assert(KILN_SEVERITY_WARNING == static_cast<int>(Severity::warning));
    KILN_TRY(const FindingsObject* object, get<FindingsObject>(call, findings));
    if (index >= object->findings.size())
      return tl::unexpected(out_of_range(call, "index", index, object->findings.size()));
    const FindingsObject::Finding& each = object->findings[index];
    kiln_finding known = KILN_INIT(kiln_finding);
    known.code = each.diagnostic.code.c_str();
    known.message = each.diagnostic.message.c_str();
    known.text = each.text.c_str();
    known.json = each.json.c_str();
    known.severity = static_cast<std::uint32_t>(each.diagnostic.severity);
    return write(call, "kiln_finding", known, finding);
  });
}

void kiln_findings_destroy(kiln_findings findings) { destroy<FindingsObject>(findings); }
