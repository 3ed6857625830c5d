// SPDX-License-Identifier: MIT
// What the device tests share: the device under test, and checks that print an Error.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "kiln/kiln.hpp"

namespace kiln::test {

/// The device that the command line named; open for the whole run.
const OpenDevice& device();
/// Whether kernels really run there. On Intel's driver without a GPU they do not, and the host must not touch
/// shared memory once it was submitted: the driver protects its pages.
bool executes();
/// Whether the driver is Kiln's CPU driver, by whatever way it was opened: it compiles in a process of its
/// own.
bool is_kilns_own();

inline ContextRef context() { return device().context.get(); }

/// Fails the test with the error's text, else gives the value.
template <class T>
T need(Result<T> result) {
  INFO((result ? std::string() : result.error().text()));
  REQUIRE(result.has_value());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// A file from the folder of the test kernels.
KernelFile test_kernel(const char* name);
/// A file from the folder of the sample kernels.
KernelFile sample_kernel(const char* name);

ModuleBuild build(ModuleFormat format, std::span<const std::byte> bytes, const char* flags = "");

CommandList immediate_list();

/// Runs a test that is skipped otherwise, in another process, on the same device; its exit status. It gets
/// the bytes by given_by_parent().
int run_again(const char* test, std::span<const std::byte> given);
std::vector<std::byte> given_by_parent();

/// Waits on an event behind everything appended so far.
void finish(CommandListRef list);

}  // namespace kiln::test
