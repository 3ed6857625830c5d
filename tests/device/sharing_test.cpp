// SPDX-License-Identifier: MIT
// Memory that leaves a device and comes to it, memory that stays there, and a module's variables and
// functions.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

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
    if (is_kilns_own()) CHECK(known.exports(kind) == (kind == ExternalKind::opaque_fd));
    if (!known.exports(kind)) {
      REQUIRE(!buffer);
      CHECK(buffer.error().code() == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
      CHECK(buffer.error().diagnostic()->code == "K0234");
      continue;
    }
    REQUIRE(buffer);
    if (!executes()) {  // without a GPU there is nothing behind a descriptor, and not the program's 0
      const auto none = export_fd(context(), *buffer, kind);
      CHECK((!none || *none > 0));
      continue;
    }
    write_on_device(buffer->data(), 17);
    const int fd = need(export_fd(context(), *buffer, kind));
    void* const seen = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, fd, 0);
    REQUIRE(seen != MAP_FAILED);
    CHECK(first_word_of(seen) == 17);
    munmap(seen, kBytes);
    close(fd);
  }
  for (const ExternalKind kind : {ExternalKind::opaque_fd, ExternalKind::dma_buf}) {
    if (is_kilns_own()) CHECK(known.imports(kind) == (kind == ExternalKind::opaque_fd));
    if (known.imports(kind)) continue;
    const auto imported = import_fd(context(), device().device, 0, kBytes, kind);
    REQUIRE(!imported);
    CHECK(imported.error().diagnostic()->code == "K0234");
  }
}

TEST_CASE("memory to be exported has the limits of all memory") {
  const ExternalMemory known = need(external_memory(device().device));
  for (const ExternalKind kind : {ExternalKind::opaque_fd, ExternalKind::dma_buf}) {
    if (!known.exports(kind)) continue;
    const auto code = [&](std::size_t size, AllocationOptions options = {}) {
      const auto buffer = allocate_exportable(context(), device().device, size, kind, options);
      return buffer ? "" : buffer.error().diagnostic() ? buffer.error().diagnostic()->code : "no diagnostic";
    };
    CHECK(code(0) == "K0204");
    CHECK(code(64, {.alignment = 48}) == "K0205");
    CHECK(code(device().properties.largest_allocation + 1) == "K0207");
    const std::string large = code(64, {.alignment = std::size_t{1} << 24});
    CHECK((large.empty() || large == "K0205"));  // kept, or said
  }
}

TEST_CASE("memory is imported by a file descriptor, into another context") {
  const ExternalMemory known = need(external_memory(device().device));
  const Context other = need(ContextRef::create(device().driver));
  for (const ExternalKind kind : {ExternalKind::opaque_fd, ExternalKind::dma_buf}) {
    CAPTURE(to_string(kind));
    const bool both = known.exports(kind) && known.imports(kind);
    if (is_kilns_own()) CHECK(both == (kind == ExternalKind::opaque_fd));
    if (!executes() || !both) continue;
    int fd = -1;
    Buffer imported;
    {
      const Buffer buffer = need(allocate_exportable(context(), device().device, kBytes, kind));
      write_on_device(buffer.data(), 17);
      fd = need(export_fd(context(), buffer, kind));
      imported = need(import_fd(other, device().device, fd, kBytes, kind));
      CHECK(imported.data() != buffer.data());
      CHECK(first_word_of(imported.data()) == 17);
      write_on_device(imported.data(), 18);
      CHECK(first_word_of(buffer.data()) == 18);
    }
    CHECK(first_word_of(imported.data()) == 18);  // it has its own hold of the memory
    const auto larger = import_fd(other, device().device, fd, std::size_t{64} << 20, kind);
    CHECK_FALSE(larger);
    const auto closed = import_fd(other, device().device, -1, kBytes, kind);
    REQUIRE_FALSE(closed);
    CHECK(closed.error().diagnostic()->code == "K0238");
    close(fd);
  }
}

TEST_CASE("memory goes to another process, which writes it on its own device") {
  if (!is_kilns_own()) return;  // how the descriptor in a handle gets there, each driver has its own way
  const Buffer buffer = need(context().allocate_device(device().device, kBytes));
  write_on_device(buffer.data(), 5);
  const auto handle = need(ipc_handle(context(), buffer));
  CHECK(run_again("another process writes what it was given", std::as_bytes(std::span(handle.data))) == 0);
  CHECK(first_word_of(buffer.data()) == 6);
  need(put_ipc(context(), handle));
}

TEST_CASE("another process writes what it was given" * doctest::skip(true)) {
  ze_ipc_mem_handle_t handle{};
  const std::vector<std::byte> given = given_by_parent();
  REQUIRE(given.size() == sizeof handle.data);
  std::memcpy(handle.data, given.data(), given.size());
  const IpcMemory opened = need(open_ipc(context(), device().device, handle));
  CHECK(first_word_of(opened.data()) == 5);
  write_on_device(opened.data(), 6);
}

TEST_CASE("memory of the host is imported, where the driver does that") {
  constexpr std::uint32_t kItems = kBytes / sizeof(std::uint32_t);
  struct Mapped {
    void* data = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ~Mapped() { munmap(data, kBytes); }
  } const memory;
  REQUIRE(memory.data != MAP_FAILED);
  auto imported = import_host(device().driver, context(), memory.data, kBytes);
  if (is_kilns_own()) CHECK(device().driver.has(Feature::import_host));
  if (!device().driver.has(Feature::import_host)) {
    REQUIRE_FALSE(imported);
    CHECK(imported.error().diagnostic()->code == "K0230");
    return;
  }
  if (!imported && imported.error().code() == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE) {
    CHECK(imported.error().diagnostic()->code == "K0230");  // switched off in the driver
    return;
  }
  const ImportedHost host = need(std::move(imported));
  CHECK(host.data() == memory.data);
  CHECK(host.size() == kBytes);
  auto* const values = static_cast<float*>(memory.data);
  if (executes()) std::fill_n(values, kItems, 1.0f);
  const Bundle bundle = need(Bundle::load(device(), {sample_kernel("saxpy.spv")}));
  const OwnKernel kernel = need(bundle.make_kernel("saxpy"));
  const CommandList list = immediate_list();
  need(launch(list, kernel, {{1}, {16}}, 2.0f, values, values + 16, 16u));
  finish(list.get());
  if (executes()) {
    CHECK(values[16] == 3.0f);
    write_on_device(memory.data, 41);
    CHECK(first_word_of(memory.data) == 41);
  }
  if (is_kilns_own()) CHECK_FALSE(import_host(device().driver, context(), memory.data, kBytes));  // twice
  for (const auto& [data, size] :
       {std::pair<void*, std::size_t>(values + 1, 4096), {values, 100}, {values, 0}}) {
    const auto part = import_host(device().driver, context(), data, size);
    REQUIRE_FALSE(part);
    CHECK(part.error().diagnostic()->code == "K0237");
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

TEST_CASE("modules are linked after their build") {
  const auto library = [](const char* file) {
    return need(Bundle::load(device(), {test_kernel(file)}, {.flags = "-library-compilation"}));
  };
  Bundle main = library("link_main.spv");
  const Bundle part = library("link_part.spv");  // which has no kernel
  CHECK(main.kernel("doubled").error().code() == ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);
  const ModuleRef alone[] = {main.module()}, both[] = {main.module(), part.module()};
  const auto missing = link_modules(alone);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().diagnostic()->code == "K0236");
  if (missing.error().code() == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE) return;  // an old loader that intercepts
  CHECK(missing.error().code() == ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
  const auto& rows = missing.error().diagnostic()->rows;
  CHECK(std::ranges::any_of(rows, [](const auto& row) { return row.text.find("twice") != row.text.npos; }));
  need(link_modules(both));
  CheckedKernel* const kernel = need(main.kernel("doubled"));
  const HostBuffer values = need(context().allocate_shared(device().device, 4 * sizeof(int)));
  if (executes())
    for (int i = 0; i < 4; ++i) values.span<int>()[static_cast<std::size_t>(i)] = i + 5;
  const CommandList list = immediate_list();
  need(launch(list, *kernel, {{1}, {4}}, values));
  finish(list.get());
  if (executes())
    for (int i = 0; i < 4; ++i) CHECK(values.span<int>()[static_cast<std::size_t>(i)] == 2 * (i + 5));
  need(link_modules({}));
  const ModuleRef empty[] = {main.module(), ModuleRef()};
  CHECK(link_modules(empty).error().diagnostic()->code == "K0222");
}

/// On Kiln's own device: what a link keeps of a module that is gone, each driver has its own way with.
TEST_CASE("a module is linked again when the one it was linked with is gone") {
  if (!is_kilns_own()) return;
  const auto library = [](const char* file) {
    return need(Bundle::load(device(), {test_kernel(file)}, {.flags = "-library-compilation"}));
  };
  Bundle main = library("link_main.spv");
  const auto link = [&](const Bundle& part) {
    const ModuleRef both[] = {main.module(), part.module()};
    return link_modules(both);
  };
  {
    const Bundle part = library("link_part.spv");
    const auto linked = link(part);
    if (!linked && linked.error().code() == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
      return;  // an old loader that intercepts
    need(linked);
    need(main.module().kernel("doubled"));
  }
  CHECK(main.module().kernel("doubled").error().code() == ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);
  const Bundle part = library("link_part.spv");
  need(link(part));
  CheckedKernel* const kernel = need(main.kernel("doubled"));
  const HostBuffer value = need(context().allocate_shared(device().device, sizeof(int)));
  value.span<int>()[0] = 21;
  const CommandList list = immediate_list();
  need(launch(list, *kernel, {{1}, {1}}, value));
  finish(list.get());
  CHECK(value.span<int>()[0] == 42);
}

}  // namespace kiln::test
