// SPDX-License-Identifier: MIT
// Handles of another type and of what was destroyed, and events that share an index.
#include <doctest/doctest.h>

#include "fixture.hpp"

namespace {

template <class To, class From>
To as(From handle) {
  return reinterpret_cast<To>(handle);
}

}  // namespace

// The loader has objects of its own around handles in some of its ways, which it does not check.
TEST_CASE("straight: a handle of another type is an error that says what it is") {
  Fixture f;
  const auto module = f.module();
  const auto kernel = f.kernel(module, "add");
  const auto list = f.immediate();
  const auto event = f.event();
  CHECK(api.ContextDestroy(as<ze_context_handle_t>(module)) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(f.last_error().find("is a handle of a module, a context is needed") != std::string::npos);
  CHECK(api.ModuleDestroy(as<ze_module_handle_t>(f.context)) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.KernelSetGroupSize(as<ze_kernel_handle_t>(module), 1, 1, 1) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.EventHostSignal(as<ze_event_handle_t>(list)) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const ze_group_count_t groups{1, 1, 1};
  CHECK(api.CommandListAppendLaunchKernel(as<ze_command_list_handle_t>(event), kernel, &groups, nullptr, 0,
                                          nullptr) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  auto wrong = as<ze_event_handle_t>(kernel);
  CHECK(api.CommandListAppendBarrier(list, wrong, 0, nullptr) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.CommandListAppendBarrier(list, nullptr, 1, &wrong) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.DriverGetProperties(as<ze_driver_handle_t>(f.device), nullptr) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("straight: a handle of what was destroyed or never made is an error") {
  Fixture f;
  const auto desc = make<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
  ze_context_handle_t context = nullptr;
  REQUIRE(api.ContextCreate(f.driver, &desc, &context) == ZE_RESULT_SUCCESS);
  CHECK(api.ContextGetStatus(context) == ZE_RESULT_SUCCESS);
  CHECK(api.ContextDestroy(context) == ZE_RESULT_SUCCESS);
  CHECK(api.ContextGetStatus(context) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(f.last_error().find("no live handle of the CPU device; a context is needed") != std::string::npos);
  CHECK(api.ContextDestroy(context) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(api.KernelDestroy(reinterpret_cast<ze_kernel_handle_t>(std::uintptr_t{16})) ==
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("a pool has one event of an index at a time") {
  Fixture f;
  auto pool_desc = make<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
  pool_desc.count = 2;
  ze_event_pool_handle_t pool = nullptr;
  REQUIRE(api.EventPoolCreate(f.context, &pool_desc, 1, &f.device, &pool) == ZE_RESULT_SUCCESS);
  auto desc = make<ze_event_desc_t>(ZE_STRUCTURE_TYPE_EVENT_DESC);
  desc.index = 1;
  ze_event_handle_t first = nullptr, second = nullptr;
  REQUIRE(api.EventCreate(pool, &desc, &first) == ZE_RESULT_SUCCESS);
  CHECK(api.EventCreate(pool, &desc, &second) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
  CHECK(f.last_error() == "the pool has an event of index 1 already");
  CHECK(api.EventDestroy(first) == ZE_RESULT_SUCCESS);
  REQUIRE(api.EventCreate(pool, &desc, &second) == ZE_RESULT_SUCCESS);
  CHECK(api.EventPoolDestroy(pool) == ZE_RESULT_SUCCESS);  // before its event, as programs do
  CHECK(api.EventDestroy(second) == ZE_RESULT_SUCCESS);
}
