// SPDX-License-Identifier: MIT
// Arguments and lists that do not go with a launch: null objects, pointers to memory that the driver did not
// allocate, launches of another kind.
#include <cinttypes>
#include <cstdio>

#include "kiln/refusal.hpp"

namespace kiln {
namespace {

std::string label(const KernelFacts& kernel, std::size_t index) {
  const std::string number = "argument " + std::to_string(index);
  const bool named = index < kernel.arguments.size() && !kernel.arguments[index].name.empty();
  return named ? number + " `" + kernel.arguments[index].name + "`" : number;
}

}  // namespace

Diagnostic explain_pointer(const Refusal& refusal, const KernelFacts& kernel, std::size_t index,
                           const void* address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, reinterpret_cast<std::uintptr_t>(address));
  Diagnostic diagnostic{
      "K0229",
      label(kernel, index) + " of `" + kernel.name + "` points to memory that the driver did not allocate",
      {},
      {}};
  diagnostic.rows = {{"address", text}};
  diagnostic.answer = {AnsweredBy::driver, static_cast<std::uint32_t>(refusal.code), refusal.call};
  diagnostic.help = {
      "give memory of the same driver: allocate_device(), allocate_shared() or allocate_host()",
      "memory of the host (malloc, a container, a variable) must be copied there first",
      "if it was allocated there: see whether it was freed, or its Buffer has gone"};
  return diagnostic;
}

Diagnostic explain_list_kind(const Refusal& refusal, const KernelFacts& kernel, bool cooperative) {
  const std::string kind = cooperative ? "cooperative" : "ordinary",
                    other = cooperative ? "ordinary" : "cooperative";
  Diagnostic diagnostic{"K0122",
                        "the driver does not take " + std::string(cooperative ? "a " : "an ") + kind +
                            " launch of `" + kernel.name + "` on this list",
                        {},
                        {}};
  diagnostic.answer = {AnsweredBy::driver, static_cast<std::uint32_t>(refusal.code), refusal.call};
  diagnostic.help = {
      "if the list has " + other +
          " launches already: driver 22.43 takes one kind alone on a regular list, so keep a list "
          "for each, or append to an immediate list",
      "else see the driver's own messages: NEOReadDebugKeys=1 PrintDebugMessages=1"};
  return diagnostic;
}

Diagnostic explain_null_object(const KernelFacts& kernel, std::size_t index, ArgumentKind kind) {
  const std::string object = kind == ArgumentKind::image ? "image" : "sampler";
  return {"K0121",
          label(kernel, index) + " of `" + kernel.name + "` is a null " + object,
          {},
          {"give a handle that zeImageCreate or zeSamplerCreate made: the driver would follow it"}};
}

}  // namespace kiln
