// SPDX-License-Identifier: MIT
// Finds builds by everything that shaped them, byte by byte.
#include "drivers/cpu/objects/recent_builds.hpp"

#include <algorithm>
#include <new>

namespace kiln::cpu {
namespace {

constexpr std::size_t kMostBytes = 16 << 20;

// Never destroyed: an application may call until its very end.
RecentBuilds& recent_builds() {
  static auto* all = new RecentBuilds(kMostBytes);
  return *all;
}

void add(std::string& key, std::span<const std::byte> bytes) {
  key.append(std::to_string(bytes.size())).push_back(':');
  key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void add(std::string& key, std::span<const SpecializationConstant> constants) {
  for (const auto& [id, bits] : constants)
    key.append(std::to_string(id)).append("=").append(std::to_string(bits)).push_back(';');
}

std::string key_of(std::span<const SpirvModule> modules, const BuildOptions& options) {
  std::string key;
  const auto& [flags, constants, sub_group_sizes, fp64, late] =
      options;  // a new member must come into the key as well
  add(key, std::as_bytes(std::span(flags)));
  add(key, constants);
  add(key, std::as_bytes(std::span(sub_group_sizes)));
  key.push_back(fp64 ? 'd' : ' ');
  key.push_back(late ? 'l' : ' ');
  for (const SpirvModule& module : modules) {
    add(key, module.bytes);
    add(key, module.constants);
  }
  return key;
}

}  // namespace

std::size_t RecentBuilds::Entry::bytes() const {
  // A program's code grows, in the end to about twice its SPIR-V.
  const std::size_t growing = build->program ? 3 * key.size() : 0;
  return key.size() + build->binary.size() + build->log.size() + growing;
}

RecentBuilds::Entries::iterator RecentBuilds::place_of(const std::string& key) {
  return std::ranges::find(entries_, key, &Entry::key);
}

std::shared_ptr<const RecentBuilds::Build> RecentBuilds::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto place = place_of(key);
  if (place == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, place);
  return place->build;
}

void RecentBuilds::keep(std::string key, Build build) {
  Entry entry{std::move(key), std::make_shared<const Build>(std::move(build))};
  const std::size_t bytes = entry.bytes();
  const std::lock_guard lock(mutex_);
  if (bytes > most_bytes_ || place_of(entry.key) != entries_.end()) return;
  entries_.push_front(std::move(entry));
  bytes_ += bytes;
  for (; bytes_ > most_bytes_; entries_.pop_back()) bytes_ -= entries_.back().bytes();
}

BuildResult build_once(std::span<const SpirvModule> modules, const BuildOptions& options) {
  std::string key = key_of(modules, options);
  if (const auto known = recent_builds().find(key)) {
    if (known->program) return {BuildStatus::ok, known->program, known->log};
    BuildResult loaded = build_from_native(known->binary);
    loaded.log.insert(0, known->log);
    if (loaded.status == BuildStatus::ok) return loaded;
  }
  BuildResult built = build_from_spirv(modules, options);
  if (built.status != BuildStatus::ok) return built;
  try {
    const auto binary = built.program->native_binary();
    RecentBuilds::Build build{{binary.begin(), binary.end()}, built.log};
    if (binary.empty()) build.program = built.program;
    recent_builds().keep(std::move(key), std::move(build));
  } catch (const std::bad_alloc&) {  // then the next one compiles
  }
  return built;
}

}  // namespace kiln::cpu
