// SPDX-License-Identifier: MIT
// What is asked of kiln-compile and what it answers, as messages.
#include "build/compile_message.hpp"

#include <string_view>

#include "kiln/version.hpp"
#include "support/ipc/message.hpp"

namespace kiln::detail {
namespace {

constexpr std::string_view kRequestMark = "kiln-compile request " KILN_VERSION "\n";
constexpr std::string_view kAnswerMark = "kiln-compile answer " KILN_VERSION "\n";

}  // namespace

std::vector<std::byte> encode(const CompileRequest& request) {
  const DevicePlace& place = request.place;
  MessageWriter writer(kRequestMark);
  writer.text(place.source).number(place.driver).number(place.device).text(place.name);
  writer.number(place.vendor_id).number(place.device_id).number(place.ip_version);
  writer.number(place.driver_version).number(request.inputs.size());
  for (const ModuleInput& input : request.inputs) {
    writer.number(static_cast<std::uint64_t>(input.format)).bytes(input.code).text(input.flags);
    writer.number(input.constants.size());
    for (const SpecializationConstant& each : input.constants) writer.number(each.id).number(each.value);
  }
  writer.text(request.front_end).number(request.front_end_targets.size());
  for (const std::string& target : request.front_end_targets) writer.text(target);
  return writer.take();
}

std::vector<std::byte> encode(const CompileAnswer& answer) {
  MessageWriter writer(kAnswerMark);
  writer.number(answer.found).number(static_cast<std::uint32_t>(answer.code));
  writer.text(answer.log).text(answer.last_error).text(answer.compiler).bytes(answer.native);
  return writer.number(answer.front_end_end).take();
}

std::optional<CompileRequest> decode_request(std::span<const std::byte> message) {
  MessageReader reader(message, kRequestMark);
  CompileRequest request;
  DevicePlace& place = request.place;
  place.source = reader.text();
  place.driver = reader.number32();
  place.device = reader.number32();
  place.name = reader.text();
  place.vendor_id = reader.number32();
  place.device_id = reader.number32();
  place.ip_version = reader.number32();
  place.driver_version = reader.number32();
  // The loops end where the message does, whatever the counts say.
  for (std::uint64_t inputs = reader.number(); inputs != 0 && reader.well(); --inputs) {
    ModuleInput& input = request.inputs.emplace_back();
    input.format =
        static_cast<ModuleFormat>(reader.number(static_cast<std::uint64_t>(ModuleFormat::opencl_c)));
    input.code = reader.bytes();
    input.flags = reader.text();
    for (std::uint64_t constants = reader.number(); constants != 0 && reader.well(); --constants) {
      const std::uint32_t id = reader.number32();
      input.constants.push_back({id, reader.number()});
    }
  }
  request.front_end = reader.text();
  for (std::uint64_t targets = reader.number(); targets != 0 && reader.well(); --targets)
    request.front_end_targets.push_back(reader.text());
  if (!reader.done()) return std::nullopt;
  return request;
}

std::optional<CompileAnswer> decode_answer(std::span<const std::byte> message) {
  MessageReader reader(message, kAnswerMark);
  CompileAnswer answer;
  answer.found = reader.number(1) != 0;
  answer.code = static_cast<ze_result_t>(reader.number(ZE_RESULT_FORCE_UINT32));
  answer.log = reader.text();
  answer.last_error = reader.text();
  answer.compiler = reader.text();
  const auto native = reader.bytes();
  answer.native.assign(native.begin(), native.end());
  answer.front_end_end = reader.number32();
  if (!reader.done()) return std::nullopt;
  return answer;
}

}  // namespace kiln::detail
