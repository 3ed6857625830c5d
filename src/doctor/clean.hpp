// SPDX-License-Identifier: MIT
// Takes out of facts what is nobody's business, so that they may stand in a public bug report. Pure, but for
// the words of this machine.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.hpp"
#include "kiln/memory_account.hpp"

namespace kiln::doctor {

/// Names of this user and host, and home folders, as the environment and the system have them.
[[nodiscard]] std::vector<std::string> private_words();

/// Leaves in what is on a list, and nothing else: variables by name, their values where they have the form
/// that drivers take, files of drivers and compilers, folders of the system. What stands for one folder or
/// group stays the same through all that one cleaner cleans.
class Cleaner {
 public:
  explicit Cleaner(std::vector<std::string> words) : words_(std::move(words)) {}

  /// Facts that give the same findings, as far as what they need is not private.
  [[nodiscard]] Facts facts(const Facts& facts);
  /// Without names of programs and control groups.
  [[nodiscard]] static MemoryAccount account(MemoryAccount account);
  /// "/home/ann/sdk/libze_intel_gpu.so.1" gives "(folder 1)/libze_intel_gpu.so.1".
  [[nodiscard]] std::string path(std::string_view path);
  /// Words, paths and names of libraries in a text of somebody else's.
  [[nodiscard]] std::string text(std::string_view text);
  /// The lines of i915, xe and drm, the last ones, without names of programs. `log` is that of syslog(2): a
  /// priority before each line. Lines of users, who may write there as well, are left out.
  [[nodiscard]] std::vector<std::string> kernel_log(std::string_view log);

  /// Variables that look like a driver's, and keys of its settings files, that are not shown.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  [[nodiscard]] std::string value(std::string_view name, std::string_view value);
  [[nodiscard]] std::string group(const std::string& name);
  [[nodiscard]] std::string device_request(std::string_view request);
  [[nodiscard]] std::string folder(std::string_view path);
  /// Takes out those that are not public; how many look like keys of the driver's. `is_settings`: all do.
  [[nodiscard]] std::size_t take_out(std::map<std::string, std::string>& all, bool is_settings);
  /// A name that may stand in texts as it is, spaces and all, and its folder.
  void remember(const std::string& name);
  [[nodiscard]] Start start(Start start);
  [[nodiscard]] std::string placeholder(const char* what, const std::string& of);

  std::vector<std::string> words_;
  std::map<std::string, std::string> folders_, groups_;
  std::map<std::string, std::string, std::greater<>> names_;  ///< of two that begin alike the longer first
  std::size_t left_out_ = 0;
};

}  // namespace kiln::doctor
