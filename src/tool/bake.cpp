// SPDX-License-Identifier: MIT
// `kiln bake`: asks the library, and shows what it answers.
#include "kiln/bake.hpp"

#include <algorithm>

#include "support/process.hpp"
#include "tool/common/output.hpp"
#include "tool/common/parallel.hpp"
#include "tool/common/session.hpp"
#include "tool/common/table.hpp"

namespace kiln::tool {
namespace {

int fail(const BakeFailure& failure, bool json) {
  Json list = Json::array();
  for (const Error& error : failure.errors) {
    const Error shown =
        error.diagnostic() ? Error(error.code(), error.call(), in_options(*error.diagnostic())) : error;
    complain("%s", shown.text().c_str());
    list.push_back(to_json(shown));
  }
  if (json) print({{"bundle", nullptr}, {"errors", list}});
  return exit_code(failure.errors.front());
}

Json manifest(const BakeResult& baked, const BakeOptions& options) {
  Json json{{"bundle", options.output}, {"bytes", baked.bundle.size()}, {"options", options.flags}};
  json["members"] = Json::array();
  json["kernels"] = Json::array();
  for (const BakedMember& each : baked.members)
    json["members"].push_back({{"member", each.name},
                               {"format", each.target.empty() ? "spirv" : "native"},
                               {"target", each.target.empty() ? Json() : Json(each.target)},
                               {"bytes", each.content.size()}});
  for (const BakedKernel& each : baked.kernels)
    json["kernels"].push_back({{"name", each.name}, {"source", each.file}});
  json["dependencies"] = baked.dependencies;
  json["errors"] = Json::array();
  return json;
}

void print_text(const BakeResult& baked, const BakeOptions& options) {
  say("%s: %zu bytes, kernels", options.output.c_str(), baked.bundle.size());
  for (const BakedKernel& each : baked.kernels) say(" %s", each.name.c_str());
  say("\n");
  std::vector<std::vector<std::string>> rows{{"MEMBER", "FOR", "BYTES"}};
  for (const BakedMember& each : baked.members)
    rows.push_back({each.name, each.target.empty() ? "any other device (SPIR-V)" : each.target,
                    std::to_string(each.content.size())});
  print_table(rows, 2, 2);
}

}  // namespace

int bake(const BakeCommand& command) {
  BakeOptions options = command.options;
  options.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(command.timeout * 1000));
  options.work = shown_work("baking");
  const InterruptGuard guard;  // goes last: then every child is gone, and every folder
  const auto baked = kiln::bake(options);
  if (InterruptGuard::interrupted()) return kDriverError;
  if (!baked) return fail(baked.error(), command.json);
  if (command.json)
    print(manifest(*baked, options));
  else
    print_text(*baked, options);
  return kOk;
}

}  // namespace kiln::tool
