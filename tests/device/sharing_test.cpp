// SPDX-License-Identifier: MIT
// Memory that leaves a device and comes to it, memory that stays there, and a module's variables and
// functions.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "device_test.hpp"

namespace kiln::test {
namespace {

constexpr std::size_t kBytes = 65536;

std::uint32_t first_word_of(const void* data) {
  std::uint32_t word = 0;
  std::memcpy(&word, data, sizeof word);
  return word;
}

void write_on_device(void* to, std::uint32_t word) {
  const CommandList list = immediate_list();
  need(list->fill(to, std::as_bytes(std::span(&word, 1)), sizeof word));
  finish(list.get());
}

}  // namespace

TEST_CASE("memory is exported by a file descriptor, where the device does that") {
  const ExternalMemory known = need(external_memory(device().device));
  for (const ExternalKind kind : {ExternalKind::opaque_fd, ExternalKind::dma_buf}) {
    CAPTURE(to_string(kind));
    const auto buffer = allocate_exportable(context(), device().device, kBytes, kind);
    if (!known.exports(kind)) {
      REQUIRE(!buffer);
      CHECK(buffer.error().code() == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
      CHECK(buffer.error().diagnostic()->code == "K0234");
      continue;
    }
    if (!executes()) continue;  // without a GPU there is nothing behind a descriptor
    REQUIRE(buffer);
    write_on_device(buffer->data(), 17);
    const int fd = need(export_fd(context(), *buffer, kind));
    void* const seen = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, fd, 0);
    REQUIRE(seen != MAP_FAILED);
    CHECK(first_word_of(seen) == 17);
    munmap(seen, kBytes);
    close(fd);
  }
  for (const ExternalKind kind : {ExternalKind::opaque_fd, ExternalKind::dma_buf}) {
    if (known.imports(kind)) continue;
    const auto imported = import_fd(context(), device().device, 0, kBytes, kind);
    REQUIRE(!imported);
    CHECK(imported.error().diagnostic()->code == "K0234");
  }
}

TEST_CASE("memory is opened again by its IPC handle") {
  const Buffer buffer = need(context().allocate_device(device().device, kBytes));
  if (!executes()) {  // no driver of the system gives a handle here; it must say so and go on
    (void)ipc_handle(context(), buffer);
    return;
  }
  const auto handle = need(ipc_handle(context(), buffer));
  {
    const IpcMemory opened = need(open_ipc(context(), device().device, handle));
    write_on_device(buffer.data(), 23);
    CHECK(first_word_of(opened.data()) == 23);
  }
  need(put_ipc(context(), handle));
  CHECK(ipc_handle(context(), Buffer()).error().diagnostic()->code == "K0222");
}

TEST_CASE("memory is made resident and evicted") {
  const Buffer buffer = need(context().allocate_device(device().device, kBytes));
  if (executes()) {  // Intel's driver needs a GPU for it
    need(make_resident(context(), device().device, buffer.data(), kBytes));
    need(evict(context(), device().device, buffer.data(), kBytes));
  }
  CHECK(make_resident(context(), device().device, nullptr, 1).error().diagnostic()->code == "K0222");
}

TEST_CASE("a variable of a module is read and written by lists") {
  const auto built =
      build(ModuleFormat::spirv, test_kernel("global.spv").bytes, "-cl-std=CL2.0 -ze-take-global-address");
  INFO(built.log);
  REQUIRE(built.code() == ZE_RESULT_SUCCESS);
  const GlobalVariable counter = need(built.module->global("counter"));
  CHECK(counter.size == sizeof(std::uint32_t));
  const HostBuffer words = need(context().allocate_shared(device().device, 8));
  words.span<std::uint32_t>()[0] = 40;
  const Kernel kernel = need(built.module->kernel("next"));
  void* const out = &words.span<std::uint32_t>()[1];
  need(kernel->set_argument(0, sizeof out, &out));
  need(kernel->set_group_size({1}));
  const CommandList list = immediate_list();
  need(list->copy(counter.data, words.data(), sizeof(std::uint32_t)));
  need(list->barrier());
  need(list->launch_unchecked(kernel, {1}));
  need(list->barrier());
  need(list->copy(words.data(), counter.data, sizeof(std::uint32_t)));
  finish(list.get());
  if (executes()) {
    CHECK(words.span<std::uint32_t>()[1] == 40);
    CHECK(words.span<std::uint32_t>()[0] == 41);
  }
  const auto none = built.module->global("none");
  REQUIRE(!none);
  REQUIRE(none.error().diagnostic());
  CHECK(none.error().diagnostic()->code == "K0233");
}

TEST_CASE("a function of a module has an address") {
  const auto built =
      build(ModuleFormat::spirv, test_kernel("global.spv").bytes, "-cl-std=CL2.0 -library-compilation");
  INFO(built.log);
  REQUIRE(built.code() == ZE_RESULT_SUCCESS);
  CHECK(need(built.module->function("twice")) != nullptr);
  const auto none = built.module->function("none");
  REQUIRE(!none);
  REQUIRE(none.error().diagnostic());
  CHECK(none.error().diagnostic()->code == "K0233");
}

}  // namespace kiln::test
