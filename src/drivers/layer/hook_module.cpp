// SPDX-License-Identifier: MIT
// Modules: from what they are made is remembered, and a refused build explained.
#include <atomic>
#include <cerrno>

#include "drivers/layer/cache/module.hpp"
#include "drivers/layer/explain.hpp"
#include "drivers/layer/guard.hpp"
#include "drivers/layer/hooks.hpp"
#include "drivers/layer/own_log.hpp"
#include "drivers/layer/recorder.hpp"
#include "drivers/layer/tell.hpp"

namespace kiln::layer {
namespace {

std::atomic<std::uint64_t> modules_made = 0;

std::shared_ptr<KnownModule> start(std::uint64_t number, ze_context_handle_t context,
                                   ze_device_handle_t device, const ze_module_desc_t* description) {
  std::vector<std::byte> spirv;
  if (description && description->format == ZE_MODULE_FORMAT_IL_SPIRV && description->pInputModule) {
    const auto* code = reinterpret_cast<const std::byte*>(description->pInputModule);
    spirv.assign(code, code + description->inputSize);
  }
  return std::make_shared<KnownModule>(number, context, device, std::move(spirv));
}

}  // namespace

ze_result_t ZE_APICALL hook::zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device,
                                            const ze_module_desc_t* description, ze_module_handle_t* module,
                                            ze_module_build_log_handle_t* log) {
  KILN_GUARD(guard_module(context, device, description, module));
  OwnLog own_log(log);
  const std::string before = last_error_text();
  record_child();
  const std::uint64_t number = ++modules_made;
  const Recording recording(record::Call::build, nullptr);
  recording.set_bytes(description ? description->inputSize : 0);
  recording.set_numbers(static_cast<std::uint32_t>(number), 0);
  recording.begin();
  const ze_result_t code = create_module({context, device, description, module}, own_log);
  recording.end(code, code == ZE_RESULT_SUCCESS ? *module : nullptr);
  const int kept = errno;
  quietly([&] {
    auto made = start(number, context, device, description);
    if (code == ZE_RESULT_SUCCESS) {
      made->made(*module);
      known.modules.add(*module, [&](ModuleEntry& entry) { entry.module = std::move(made); });
    } else {
      const std::string text = last_error_text();
      tell(explain_module({code, "zeModuleCreate"}, *made, description, own_log.text(),
                          text == before ? "" : text));
    }
  });
  errno = kept;
  return code;
}

ze_result_t ZE_APICALL hook::zeModuleDestroy(ze_module_handle_t module) {
  KILN_GUARD(need_handles("zeModuleDestroy", module));
  known.modules.remove(module, [](ModuleEntry& gone) {
    gone.module->destroyed();
    gone.module.reset();
  });
  return real.zeModuleDestroy(module);
}

ze_result_t ZE_APICALL hook::zeModuleDynamicLink(std::uint32_t count, ze_module_handle_t* modules,
                                                 ze_module_build_log_handle_t* log) {
  KILN_GUARD(need("zeModuleDynamicLink", "modules", modules));
  OwnLog own_log(log);
  const Recording recording(record::Call::link, nullptr);
  recording.set_numbers(count, 0);
  recording.begin();
  const ze_result_t code = real.zeModuleDynamicLink(count, modules, own_log.place());
  recording.end(code);
  if (code != ZE_RESULT_SUCCESS)
    tell([&] { return explain_link({code, "zeModuleDynamicLink"}, count, own_log.text()); });
  return code;
}

}  // namespace kiln::layer
