// SPDX-License-Identifier: MIT
// Links object code with LLVM's run-time linker; all of a program lies in one mapping, so that parts reach
// each other.
#include "drivers/cpu/compiler/backend/object_loader.hpp"

#include <llvm/ExecutionEngine/JITSymbol.h>
#include <llvm/ExecutionEngine/RTDyldMemoryManager.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Object/ObjectFile.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <new>
#include <utility>

#include "drivers/cpu/compiler/backend/runtime_symbols.hpp"
#include "drivers/cpu/compiler/llvm_version.hpp"
#include "drivers/cpu/runtime/code_ranges.hpp"

namespace kiln::cpu {
namespace {

std::size_t align_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// One anonymous mapping in three parts: code, constants, variables.
class Mapping : public llvm::RuntimeDyld::MemoryManager {
 public:
  Mapping() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() override {
    announced_ = {};
    if (base_ != nullptr) munmap(base_, size_);
    if (held_ != nullptr) munmap(held_, held_size_);
  }

  /// Takes memory for so many bytes of sections beforehand: without, the linker would end the process.
  [[nodiscard]] bool hold(std::size_t bytes) {
    held_size_ = align_up(bytes, page_) + kMostParts * page_;
    held_ = map(held_size_);
    return held_ != nullptr;
  }

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(base_), size_};
  }
  [[nodiscard]] bool is_variable(std::uintptr_t address) const {
    return address - reinterpret_cast<std::uintptr_t>(variables_.begin) <
           static_cast<std::size_t>(variables_.end - variables_.begin);
  }
  bool needsToReserveAllocationSpace() override { return true; }

#if LLVM_VERSION_MAJOR >= 16
  void reserveAllocationSpace(std::uintptr_t code, llvm::Align code_alignment, std::uintptr_t constants,
                              llvm::Align constants_alignment, std::uintptr_t variables,
                              llvm::Align variables_alignment) override {
    reserve(code, code_alignment.value(), constants, constants_alignment.value(), variables,
            variables_alignment.value());
  }
#else
  void reserveAllocationSpace(std::uintptr_t code, std::uint32_t code_alignment, std::uintptr_t constants,
                              std::uint32_t constants_alignment, std::uintptr_t variables,
                              std::uint32_t variables_alignment) override {
    reserve(code, code_alignment, constants, constants_alignment, variables, variables_alignment);
  }
#endif

  std::uint8_t* allocateCodeSection(std::uintptr_t size, unsigned alignment, unsigned,
                                    llvm::StringRef) override {
    return code_.take(size, alignment);
  }
  std::uint8_t* allocateDataSection(std::uintptr_t size, unsigned alignment, unsigned, llvm::StringRef,
                                    bool constant) override {
    return (constant ? constants_ : variables_).take(size, alignment);
  }
  void registerEHFrames(std::uint8_t*, std::uint64_t, std::size_t) override {}
  void deregisterEHFrames() override {}
  bool finalizeMemory(std::string* message) override {
    if (protect(code_, PROT_READ | PROT_EXEC) && protect(constants_, PROT_READ)) {
      announced_ = CodeRange(std::as_bytes(std::span(code_.begin, code_.end)));
      return false;
    }
    if (message != nullptr) *message = "memory protection cannot be changed";
    return true;
  }

 private:
  struct Part {
    std::uint8_t* begin = nullptr;
    std::uint8_t* next = nullptr;
    std::uint8_t* end = nullptr;

    std::uint8_t* take(std::size_t size, std::size_t alignment) {
      const auto at = align_up(reinterpret_cast<std::uintptr_t>(next), alignment == 0 ? 16 : alignment);
      if (begin == nullptr || size > reinterpret_cast<std::uintptr_t>(end) - at) return nullptr;
      auto* section = reinterpret_cast<std::uint8_t*>(at);
      next = section + size;
      return section;
    }
  };

  void reserve(std::size_t code, std::size_t code_alignment, std::size_t constants,
               std::size_t constants_alignment, std::size_t variables, std::size_t variables_alignment) {
    // A part of slack each for the alignment of its first section.
    const std::size_t sizes[] = {align_up(code + code_alignment, page_),
                                 align_up(constants + constants_alignment, page_),
                                 align_up(variables + variables_alignment, page_)};
    size_ = sizes[0] + sizes[1] + sizes[2];
    std::uint8_t* held = std::exchange(held_, nullptr);
    if (held != nullptr && size_ > held_size_) munmap(held, held_size_);
    base_ = held != nullptr && size_ <= held_size_ ? held : map(size_);
    if (base_ == nullptr) return;  // the linker then ends the process
    if (base_ == held && held_size_ > size_) munmap(held + size_, held_size_ - size_);
    code_ = {base_, base_, base_ + sizes[0]};
    constants_ = {code_.end, code_.end, code_.end + sizes[1]};
    variables_ = {constants_.end, constants_.end, constants_.end + sizes[2]};
  }

  static std::uint8_t* map(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(memory);
  }

  static bool protect(const Part& part, int protection) {
    return part.begin == part.end ||
           mprotect(part.begin, static_cast<std::size_t>(part.end - part.begin), protection) == 0;
  }

  static constexpr std::size_t kMostParts = 2 * 3;  // a page for what each part begins and ends with

  std::size_t page_;
  std::uint8_t *base_ = nullptr, *held_ = nullptr;
  std::size_t size_ = 0, held_size_ = 0;
  Part code_, constants_, variables_;
  CodeRange announced_;
};

class Resolver : public llvm::LegacyJITSymbolResolver {
 public:
  llvm::JITSymbol findSymbol(const std::string& name) override {
    void* address = runtime_symbol(name);
    if (address == nullptr) return nullptr;
    return {reinterpret_cast<std::uintptr_t>(address), llvm::JITSymbolFlags::Exported};
  }
  llvm::JITSymbol findSymbolInLogicalDylib(const std::string&) override { return nullptr; }
};

class Object : public LoadedObject {
 public:
  bool load(std::span<const std::byte> bytes, std::string& log) {
    const llvm::MemoryBufferRef buffer(
        llvm::StringRef(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "native");
    auto file = llvm::object::ObjectFile::createELFObjectFile(buffer);
    if (!file) return fail(llvm::toString(file.takeError()), log);
    const auto* elf = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(file->get());
    if (elf == nullptr) return fail("not ELF", log);
    // Stubs and the table of addresses are smaller than the relocations that ask for them.
    std::size_t bytes_needed = bytes.size();
    for (const llvm::object::SectionRef& section : elf->sections()) {
      if ((llvm::object::ELFSectionRef(section).getFlags() & llvm::ELF::SHF_ALLOC) == 0) continue;
      const std::uint64_t alignment = section_alignment(section);
      bytes_needed += section.getSize() + 2 * alignment;
    }
    if (!mapping_.hold(bytes_needed)) throw std::bad_alloc();
    Resolver resolver;
    llvm::RuntimeDyld linker(mapping_, resolver);
    const auto info = linker.loadObject(**file);
    if (linker.hasError()) return fail(linker.getErrorString().str(), log);
    linker.resolveRelocations();
    if (linker.hasError()) return fail(linker.getErrorString().str(), log);
    std::string message;
    if (mapping_.finalizeMemory(&message)) return fail(message, log);

    for (const llvm::object::ELFSymbolRef symbol : elf->symbols()) {
      auto name = symbol.getName();
      if (!name) {
        llvm::consumeError(name.takeError());
        continue;
      }
      if (llvm::JITEvaluatedSymbol found = linker.getSymbol(*name))
        symbols_[name->str()] = {reinterpret_cast<void*>(found.getAddress()), symbol.getSize(),
                                 !mapping_.is_variable(found.getAddress())};
    }
    for (const llvm::object::SectionRef& section : elf->sections()) {
      auto name = section.getName();
      auto contents = section.getContents();
      if (name && contents) sections_[name->str()] = {contents->data(), contents->size()};
      if (!name) llvm::consumeError(name.takeError());
      if (!contents) llvm::consumeError(contents.takeError());
    }
    return true;
  }

  [[nodiscard]] Program::Symbol find(std::string_view name) const override {
    const auto found = symbols_.find(name);
    return found == symbols_.end() ? Program::Symbol{} : found->second;
  }
  void visit(const std::function<void(std::string_view, void*)>& visitor) const override {
    for (const auto& [name, symbol] : symbols_) visitor(name, symbol.address);
  }
  [[nodiscard]] std::string_view section(std::string_view name) const override {
    const auto found = sections_.find(name);
    return found == sections_.end() ? std::string_view{} : found->second;
  }
  [[nodiscard]] std::span<const std::byte> memory() const override { return mapping_.bytes(); }

 private:
  static bool fail(const std::string& reason, std::string& log) {
    log.append("error: object code cannot be linked: ").append(reason).append("\n");
    return false;
  }

  Mapping mapping_;
  std::map<std::string, Program::Symbol, std::less<>> symbols_;
  std::map<std::string, std::string_view, std::less<>> sections_;
};

}  // namespace

std::unique_ptr<LoadedObject> load_object(std::span<const std::byte> object, std::string& log) {
  auto loaded = std::make_unique<Object>();
  return loaded->load(object, log) ? std::move(loaded) : nullptr;
}

}  // namespace kiln::cpu
