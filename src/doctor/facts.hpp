// SPDX-License-Identifier: MIT
// What `kiln doctor` looked at on this machine, as plain values: gathered in one place, judged in another.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kiln/diagnostic.hpp"

namespace kiln::doctor {

/// How a child process ended.
struct ChildEnd {
  enum class Kind : std::uint8_t { exited, signalled, timed_out, not_started };
  Kind kind = Kind::exited;
  int number = 0;       ///< exit status, signal, seconds, or errno
  std::string printed;  ///< the beginning of what it wrote on stdout and stderr
};

struct DeviceFact {
  std::string name;
  std::string kind;  ///< "gpu", "cpu", "npu" or "other"
  std::uint32_t vendor = 0, device = 0;
};

/// What came of opening a loader or driver library in a child process and of asking it for devices.
struct Start {
  std::string library;                  ///< as asked for
  std::string path;                     ///< the file behind it, empty when it cannot be opened
  std::string error;                    ///< dlerror()'s text
  std::string version;                  ///< the loader's own, else by the name of the file
  std::optional<std::uint32_t> answer;  ///< zeInit's; none when the library did not get so far
  std::optional<std::uint32_t> build;   ///< Intel's driver: the build of its release
  std::optional<Diagnostic> refusal;    ///< K0306, when it is no usable library
  std::vector<DeviceFact> devices;      ///< of all its drivers
  std::optional<std::size_t>
      without_mask;  ///< devices when ZE_AFFINITY_MASK is taken away, where it was tried
  ChildEnd end{};
};

/// A GPU on the PCI bus.
struct Card {
  std::string address;  ///< "0000:03:00.0"
  std::uint32_t vendor = 0, device = 0;
  std::string kernel_driver;  ///< "i915", "xe", "vfio-pci" or empty
  std::string node;           ///< the node that it should have, "renderD128", empty when the kernel made none
};

struct Node {
  std::string path;
  int error = 0;                   ///< errno of opening it, 0 when it opens
  std::string owner, group, mode;  ///< "root", "render", "0660"
  std::string address;             ///< of its card, empty when unknown
  std::uint32_t vendor = 0;        ///< 0 when unknown
};

struct Folder {
  std::string path;
  bool exists = false, is_folder = false, writable = false;
  std::string owner{};
  bool foreign = false;  ///< owned by another user than this one and root
  std::uint64_t bytes = 0, files = 0;
};

/// A settings file: whether others could have written it, and the keys that it sets.
struct Settings {
  std::string path;
  bool foreign = false;
  std::map<std::string, std::string> keys;
  std::size_t hidden = 0;  ///< keys that a Cleaner took out
};

struct Library {
  std::string name, path, version;  ///< path empty: not found
};

struct Facts {
  std::map<std::string, std::string> environment;
  std::size_t hidden_keys = 0;  ///< variables that a Cleaner took out, and that may be keys of the driver's
  std::vector<std::string> groups;  ///< of this process
  std::vector<Card> cards;
  std::vector<Node> nodes, accelerators;  ///< /dev/dri/renderD*, /dev/accel/*
  bool in_container = false;
  Start loader;
  std::vector<Start> drivers;  ///< Intel's, those of ZE_ENABLE_ALT_DRIVERS
  Start cpu;                   ///< Kiln's own
  std::vector<Library> compilers;
  Library ocloc;
  ChildEnd ocloc_end{};
  std::vector<Settings> driver_settings;      ///< igdrcl.config, neo.config in the current folder
  std::optional<Settings> compiler_settings;  ///< IGC's Options.txt
  std::vector<std::string> ocloc_files;       ///< *_options.txt in the current folder
  std::vector<Folder> caches;
};

}  // namespace kiln::doctor
