// SPDX-License-Identifier: MIT
// Modules: from what they are made is remembered, and a refused build explained.
#include <algorithm>
#include <atomic>

#include "drivers/layer/explain.hpp"
#include "drivers/layer/guard.hpp"
#include "drivers/layer/hooks.hpp"
#include "drivers/layer/real_driver.hpp"
#include "drivers/layer/tell.hpp"

namespace kiln::layer {
namespace {

std::atomic<std::uint64_t> modules_made = 0;

std::string text_of(ze_module_build_log_handle_t log) {
  const Api* api = real_api();
  std::size_t size = 0;
  std::string text;
  if (!api || !log || api->zeModuleBuildLogGetString(log, &size, nullptr) != ZE_RESULT_SUCCESS) return text;
  text.resize(size);
  if (size == 0 || api->zeModuleBuildLogGetString(log, &size, text.data()) != ZE_RESULT_SUCCESS) return {};
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

/// A build log that nobody asked for, until it is read.
class OwnLog {
 public:
  explicit OwnLog(ze_module_build_log_handle_t* of_caller) : place_(of_caller ? of_caller : &log_) {}
  OwnLog(OwnLog&&) = delete;
  ~OwnLog() {
    const Api* api = log_ ? real_api() : nullptr;
    if (api) api->zeModuleBuildLogDestroy(log_);
  }
  [[nodiscard]] ze_module_build_log_handle_t* place() const { return place_; }
  [[nodiscard]] std::string text() const { return text_of(*place_); }

 private:
  ze_module_build_log_handle_t log_ = nullptr;
  ze_module_build_log_handle_t* place_;
};

std::shared_ptr<KnownModule> start(ze_context_handle_t context, ze_device_handle_t device,
                                   const ze_module_desc_t* description) {
  auto made = std::make_shared<KnownModule>(++modules_made, context, device);
  if (description && description->format == ZE_MODULE_FORMAT_IL_SPIRV && description->pInputModule) {
    const auto* code = reinterpret_cast<const std::byte*>(description->pInputModule);
    made->spirv.assign(code, code + description->inputSize);
  }
  return made;
}

}  // namespace

ze_result_t ZE_APICALL hook::zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device,
                                            const ze_module_desc_t* description, ze_module_handle_t* module,
                                            ze_module_build_log_handle_t* log) {
  KILN_GUARD(guard_module(context, device, description, module));
  const OwnLog own_log(log);
  const std::string before = last_error_text();
  const ze_result_t code = real.zeModuleCreate(context, device, description, module, own_log.place());
  quietly([&] {
    auto made = start(context, device, description);
    if (code == ZE_RESULT_SUCCESS) {
      made->made(*module);
      known.modules.add(*module, [&](ModuleEntry& entry) { entry.module = std::move(made); });
    } else {
      const std::string text = last_error_text();
      tell(explain_module({code, "zeModuleCreate"}, *made, description, own_log.text(),
                          text == before ? "" : text));
    }
  });
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
  const OwnLog own_log(log);
  const ze_result_t code = real.zeModuleDynamicLink(count, modules, own_log.place());
  if (code != ZE_RESULT_SUCCESS)
    tell([&] { return explain_link({code, "zeModuleDynamicLink"}, count, own_log.text()); });
  return code;
}

}  // namespace kiln::layer
