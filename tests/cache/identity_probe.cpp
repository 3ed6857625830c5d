// SPDX-License-Identifier: MIT
// Prints how one process sees its compiler: `identity_probe DEVICE [WORD=VALUE…]`, a fact a line.
//   build=FILE     also builds that SPIR-V and prints the digest of the native binary
//   options=TEXT   as content of IGC's Options.txt, in a mount namespace of its own; ends with 77 without one
//   replace=PATH   puts another file there once the driver is open
//   early=N=V      loads the library in KILN_CPU_DRIVER by itself, then sets that variable
//   late=N=V       sets that variable once the driver is open
//   later=N=V      and that one after the identity was asked for
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "build/compiler_identity.hpp"
#include "kiln/kiln.hpp"

namespace {

bool count_files = false;

/// The next function of that name behind this program's own.
template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void opened(const char* path) {
  if (count_files) std::printf("opened %s\n", path);
}

int open_next(const char* name, const char* path, int flags, mode_t mode) {
  opened(path);
  return next<int (*)(const char*, int, mode_t)>(name)(path, flags, mode);
}

}  // namespace

// Libraries find these first, so that files which Kiln opens are seen.
extern "C" {
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int file = open_next("open", path, flags, static_cast<mode_t>(va_arg(rest, unsigned)));
  va_end(rest);
  return file;
}
#ifdef __GLIBC__
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int file = open_next("open64", path, flags, static_cast<mode_t>(va_arg(rest, unsigned)));
  va_end(rest);
  return file;
}
FILE* fopen64(const char* path, const char* mode) {
  opened(path);
  return next<FILE* (*)(const char*, const char*)>("fopen64")(path, mode);
}
#endif
FILE* fopen(const char* path, const char* mode) {
  opened(path);
  return next<FILE* (*)(const char*, const char*)>("fopen")(path, mode);
}
}

namespace {

using namespace kiln;

void set(const std::string& text) {
  const auto equals = text.find('=');
  setenv(text.substr(0, equals).c_str(), text.substr(equals + 1).c_str(), 1);
}

bool write_file(const char* path, const char* text) { return static_cast<bool>(std::ofstream(path) << text); }

/// Options.txt for this process and its children alone.
bool put_options(const std::string& text) {
  const auto uid = getuid();
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    write_file("/proc/self/uid_map", ("0 " + std::to_string(uid) + " 1").c_str());
  }
  const std::filesystem::path folder = std::filesystem::path(P_tmpdir) / "IntelIGC";
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", folder.c_str(), "tmpfs", 0, "mode=0755") != 0)
    return false;
  std::filesystem::create_directory(folder / "debugFlags", error);
  return write_file((folder / "debugFlags" / "Options.txt").c_str(), text.c_str());
}

int fail(const char* what, const Error& error) {
  std::fprintf(stderr, "%s: %s\n", what, error.text().c_str());
  const bool missing = error.diagnostic() && error.diagnostic()->code.starts_with("K03");
  return missing ? 77 : 1;
}

int run(const std::string& name, std::map<std::string, std::string>& words) {
  if (words.contains("options") && !put_options(words["options"])) return 77;
  if (words.contains("early")) {
    if (!dlopen(std::getenv("KILN_CPU_DRIVER"), RTLD_NOW)) return 77;
    set(words["early"]);
  }
  auto request = parse_device_request(name);
  if (!request) return fail("device", request.error());
  auto device = open_device(*request);
  if (!device) return fail("device", device.error());
  if (words.contains("late")) set(words["late"]);
  if (words.contains("replace")) {
    const std::string path = words["replace"];
    std::filesystem::copy_file(path, path + ".new");
    std::filesystem::rename(path + ".new", path);
  }

  count_files = true;
  const Api& api = device->device.api();
  const cache::Identity& identity = cache::identity(api);
  count_files = false;
  Manifest manifest = identity.fields;
  manifest.merge(cache::device_fields(device->driver, device->device, device->properties));
  if (words.contains("build")) {
    const auto file = read_kernel_file(words["build"]);
    if (!file) return fail("file", file.error());
    const ModuleInput input_of_build{ModuleFormat::spirv, file->bytes};
    const auto built = build_module(device->driver, device->context.get(), device->device,
                                    {&input_of_build, 1}, {Isolation::never});
    const auto native = built.module.get().native_binary();
    if (!native) return fail("build", native.error());
    std::printf("native %s\n", digest(*native).c_str());
    const cache::InputFacts input{"spirv", file->bytes, "", {}};
    manifest.merge(cache::input_fields(std::span(&input, 1)));
  }
  if (words.contains("later")) set(words["later"]);
  std::vector<const cache::Identity*> seen(4);
  std::vector<std::thread> threads;
  for (const cache::Identity*& place : seen)
    threads.emplace_back([&api, &place] { place = &cache::identity(api); });
  for (std::thread& thread : threads) thread.join();
  if (std::ranges::count(seen, &identity) != 4) std::printf("again changed\n");
  std::printf("changed %s\n", cache::changed_since(identity).c_str());
  std::printf("key %s\n", key_of(encode(manifest)).hex().c_str());
  std::printf("bypass %s\nunknown %s\n", identity.bypass.c_str(), identity.unknown.c_str());
  for (const ManifestField& field : manifest.fields())
    std::printf("field %s %s\n", field.name.c_str(), field.value.c_str());
  const cache::MappedLibraries mapped(reinterpret_cast<const void*>(api.zeModuleCreate));
  for (const cache::Library& library : mapped.all())
    std::printf("library %s %s\n", std::string(library.name).c_str(), std::string(library.path).c_str());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  std::map<std::string, std::string> words;
  for (int i = 2; i < count; ++i)
    if (const std::string word = arguments[i]; word.find('=') != word.npos)
      words[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  return count < 2 ? 2 : run(arguments[1], words);
}
