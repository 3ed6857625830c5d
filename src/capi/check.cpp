// SPDX-License-Identifier: MIT
// Of the C interface: does a kernel fit a product, what would fit, and how many groups of it run at a time.
#include "capi/facts.hpp"
#include "kiln/needs.hpp"

namespace kiln_c {
namespace {

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

/// With the `__local` arguments of the request.
std::uint64_t asked_slm(const KernelFacts& kernel, const KernelRequest& request) {
  std::vector<LaunchArgument> arguments;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    arguments.push_back(
        {kernel.arguments[i].kind, i < request.local_bytes.size() ? request.local_bytes[i] : 0, nullptr});
  return total_slm(kernel, arguments);
}

}  // namespace

kiln_room room_of(const LaunchFit& fit) {
  // No device takes a group that 32 bits do not count.
  const auto count = [](std::uint64_t n) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(n, UINT32_MAX));
  };
  kiln_room room = KILN_INIT(kiln_room);
  room.local_bytes = fit.local_bytes.value_or(0);
  room.local_bytes_per_item = fit.local_bytes_per_item;
  room.tile_edge = fit.tile_edge;
  room.tile_element = fit.tile_element;
  room.element_size = fit.element_size;
  room.tiles = fit.tiles;
  room.largest_group = count(fit.group_items);
  if (fit.required_group_size)
    for (int i = 0; i < 3; ++i) room.required_group_size[i] = (*fit.required_group_size)[i];
  return room;
}

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
    KILN_TRY(const Target* product, target_named(call, "target", target));
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
    KILN_TRY(const Target* product, target_named(call, "target", target));
    KILN_TRY(const KernelRequest wanted, request_of(call, *facts, request));
    const TargetLimits limits = target_limits(*product);
    kiln_room known = room_of(what_fits(*facts, limits, wanted));
    known.slm_per_group = limits.slm_per_group;
    known.static_slm = facts->static_slm;
    known.asked_slm = asked_slm(*facts, wanted);
    known.max_group_size = max_group_size(*facts, limits);
    return write(call, "kiln_room", known, room);
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
    KILN_TRY(const Target* product, target_named(call, "target", target));
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
