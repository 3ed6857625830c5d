// SPDX-License-Identifier: MIT
// Who compiles which kernels, how many at a time, and who waits for them.
#include "drivers/cpu/compiler/late_program.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "drivers/cpu/compiler/backend/facts_section.hpp"
#include "drivers/cpu/compiler/backend/object_loader.hpp"
#include "drivers/cpu/compiler/child_process.hpp"
#include "drivers/cpu/compiler/loaded_program.hpp"
#include "drivers/cpu/compiler/lowering/prepare.hpp"
#include "drivers/cpu/runtime/loaded_kernel.hpp"

namespace kiln::cpu {
namespace {

/// Kernels that one question compiles beyond those it asks for: as many as were compiled before, up to so
/// many. So a program that wants few of many pays for twice as many at most, and one that wants them all has
/// them compiled on several cores.
constexpr std::size_t kMostAhead = 16;
constexpr std::size_t kMostChildren = 16;
constexpr const char* kNoMemory = "error: no memory for the code of kernels\n";

struct Part {
  std::vector<std::byte> code;
  std::unique_ptr<LoadedObject> object;

  /// False: it cannot be linked. May throw bad_alloc.
  bool load(std::string& log) {
    const std::lock_guard lock(fork_mutex());
    object = load_object(code, log);
    return object != nullptr;
  }
};

class LateProgram : public Program {
 public:
  LateProgram(std::vector<DescribedKernel> described, Part constants, LateCompiler compiler)
      : all_(std::move(described)), constants_(std::move(constants)), compiler_(std::move(compiler)) {
    for (const DescribedKernel& kernel : all_) {
      kernels_.push_back(
          {kernel.facts, nullptr, kernel.group_size_hint, kernel.refused, kernel.grid_barrier});
      number_.push_back(kernel.refused.empty() ? place_.size() : all_.size());
      if (kernel.refused.empty()) place_.push_back(kernels_.size() - 1);
    }
    ready_ = std::vector<std::atomic<bool>>(place_.size());
    states_.resize(place_.size());
    alone_.resize(place_.size());
    loaded_.resize(place_.size());
  }

  [[nodiscard]] std::span<const CompiledKernel> kernels() const override { return kernels_; }
  [[nodiscard]] bool is_late() const override { return true; }
  [[nodiscard]] std::span<const std::byte> native_binary() const override { return binary_; }
  [[nodiscard]] Symbol global_variable(std::string_view name) const override {
    return constants_.object ? constants_.object->find(variable_symbol(name)) : Symbol();
  }
  [[nodiscard]] void* function(std::string_view) const override { return nullptr; }
  [[nodiscard]] Callable callable(std::string_view) const override { return {}; }
  [[nodiscard]] std::vector<Import> imports() const override { return {}; }
  void link(std::string_view, void*) const override {}

  BuildStatus make_ready(const CompiledKernel* kernel, std::string& log) const override {
    if (kernel == nullptr) return make_binary(log);
    const std::size_t number = number_[static_cast<std::size_t>(kernel - kernels_.data())];
    if (number >= place_.size()) return BuildStatus::build_failure;  // has no code
    if (ready_[number].load(std::memory_order_acquire)) return BuildStatus::ok;
    return compile_one(number, log);
  }

 private:
  enum class State : std::uint8_t { open, in_work, ready };

  struct Piece {
    std::vector<std::size_t> kernels;  // those with code, by number
    Compilation compilation;
    bool well = false;  // compiled and linked

    [[nodiscard]] bool begun() const { return compilation.begun; }
    [[nodiscard]] BuildStatus status() const { return well ? BuildStatus::ok : compilation.failure; }
  };

  // What one thread compiles: nobody else does, and whatever becomes of it, nobody waits for it in vain.
  struct Batch {
    const LateProgram& program;
    std::vector<std::size_t> kernels;

    Batch(const LateProgram& of, std::vector<std::size_t> which) : program(of), kernels(std::move(which)) {
      for (const std::size_t kernel : kernels) program.states_[kernel] = State::in_work;
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch() {
      const std::lock_guard lock(program.mutex_);
      for (const std::size_t kernel : kernels)
        if (program.states_[kernel] == State::in_work) program.states_[kernel] = State::open;
      program.changed_.notify_all();
    }
  };

  BuildStatus compile_one(std::size_t kernel, std::string& log) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return states_[kernel] != State::in_work; });
    if (states_[kernel] == State::ready) return BuildStatus::ok;
    if (const auto hopeless = hopeless_.find(kernel); hopeless != hopeless_.end()) {
      log.append(hopeless->second);
      return BuildStatus::build_failure;
    }
    const auto ready = static_cast<std::size_t>(std::ranges::count(states_, State::ready));
    std::vector<std::size_t> wanted = {kernel};
    for (std::size_t i = 1; i < states_.size() && wanted.size() < std::min(ready, kMostAhead); ++i)
      if (const std::size_t next = (kernel + i) % states_.size(); !alone_[kernel] && may_be_batched(next))
        wanted.push_back(next);
    const Batch batch(*this, std::move(wanted));
    lock.unlock();
    std::vector<Piece> pieces = compile(batch.kernels);
    // The fault may be that of a kernel nobody has asked for, in the same piece or in one that took the
    // memory.
    const Piece& first = pieces[0];
    const bool by_others =
        first.kernels.size() > 1 || (pieces.size() > 1 && first.status() != BuildStatus::build_failure);
    if (!first.well && (by_others || !first.begun())) pieces = compile({kernel});
    if (pieces[0].status() != BuildStatus::ok) log.append(pieces[0].compilation.log);
    return pieces[0].status();
  }

  /// Under the lock.
  [[nodiscard]] bool may_be_batched(std::size_t kernel) const {
    return states_[kernel] == State::open && !alone_[kernel];
  }

  BuildStatus make_binary(std::string& log) const {
    const std::lock_guard one_at_a_time(binary_mutex_);
    if (!binary_.empty()) return BuildStatus::ok;
    if (const BuildStatus status = compile_all(log); status != BuildStatus::ok) return status;
    std::vector<DescribedKernel> described = all_;
    for (std::size_t i = 0; i < place_.size(); ++i) described[place_[i]].facts = kernels_[place_[i]].facts;
    std::vector<std::span<const std::byte>> objects;
    if (!constants_.code.empty()) objects.emplace_back(constants_.code);
    for (const Part& part : parts_) objects.emplace_back(part.code);
    Compilation bound = compiler_.bind(objects, described);
    if (!bound.well) log.append(bound.log);
    binary_ = std::move(bound.code);
    return bound.well ? BuildStatus::ok : bound.failure;
  }

  // All that may be batched at once; then what is left one by one, so that a failure is that of a kernel. One
  // that is known to fail spares the others.
  BuildStatus compile_all(std::string& log) const {
    while (!has_hopeless(log)) {
      // Each time something gets ready, or is found to need a compilation of its own.
      if (compile_batch()) continue;
      return compile_rest(log);
    }
    return BuildStatus::build_failure;
  }

  bool has_hopeless(std::string& log) const {
    const std::lock_guard lock(mutex_);
    if (hopeless_.empty()) return false;
    const auto& [kernel, reason] = *hopeless_.begin();
    log.append(failure_of(kernel, reason));
    return true;
  }

  [[nodiscard]] std::string failure_of(std::size_t kernel, const std::string& reason) const {
    return "native binary: kernel '" + kernels_[place_[kernel]].facts.name + "': " + reason;
  }

  BuildStatus compile_rest(std::string& log) const {
    for (std::size_t kernel = 0; kernel < place_.size(); ++kernel) {
      std::string reason;
      if (const BuildStatus status = compile_one(kernel, reason); status != BuildStatus::ok) {
        log.append(failure_of(kernel, reason));
        return status;
      }
    }
    return BuildStatus::ok;
  }

  /// False: there is nothing to do, or there are no child processes.
  [[nodiscard]] bool compile_batch() const {
    std::unique_lock lock(mutex_);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < states_.size(); ++i)
      if (may_be_batched(i)) open.push_back(i);
    if (open.size() < 2) return false;
    const Batch batch(*this, std::move(open));
    lock.unlock();
    return std::ranges::any_of(compile(batch.kernels), &Piece::begun);
  }

  // The first piece has the first of `kernels`. What went well is ready afterwards; what failed is tried
  // alone from then on. Kernels beyond one are left where there are no child processes.
  std::vector<Piece> compile(const std::vector<std::size_t>& kernels) const {
    const std::size_t count = std::min({kernels.size(), std::size_t{worker_count()}, kMostChildren});
    const WithoutChild without_child = kernels.size() == 1 ? WithoutChild::compile_here : WithoutChild::leave;
    std::vector<Piece> pieces(count);
    for (std::size_t i = 0; i < kernels.size(); ++i) pieces[i % count].kernels.push_back(kernels[i]);
    const auto compile_piece = [&](Piece& piece) {
      try {
        piece.compilation = compiler_.compile(piece.kernels, without_child);
      } catch (const std::bad_alloc&) {  // of this process
        piece.compilation.failure = BuildStatus::out_of_memory;
        piece.compilation.log = kNoMemory;
      }
    };
    {
      std::vector<std::jthread> helpers;
      helpers.reserve(count);
      std::size_t started = 1;
      try {
        for (; started < count; ++started)
          helpers.emplace_back([&, i = started] { compile_piece(pieces[i]); });
      } catch (const std::system_error&) {  // as many threads as there may be
      }
      compile_piece(pieces[0]);
      for (; started < count; ++started) compile_piece(pieces[started]);
    }
    for (Piece& piece : pieces) {
      try {
        take(piece);
      } catch (const std::bad_alloc&) {
        piece.compilation.failure = BuildStatus::out_of_memory;
        piece.compilation.log = kNoMemory;
      }
      if (!piece.well && piece.begun()) remember(piece);
    }
    return pieces;
  }

  // A neighbour that takes its compiler's longest time would cost each question that. What failed alone, and
  // not by what may be different another time, is told again without trying.
  void remember(const Piece& piece) const {
    const std::lock_guard lock(mutex_);
    for (const std::size_t kernel : piece.kernels) alone_[kernel] = true;
    const Compilation& failed = piece.compilation;
    if (piece.kernels.size() == 1 && !failed.well && failed.failure == BuildStatus::build_failure)
      hopeless_.emplace(piece.kernels[0], failed.log);
  }

  void take(Piece& piece) const {
    Compilation& done = piece.compilation;
    if (!done.well) return;
    const std::optional<std::vector<DescribedKernel>> described = read_facts(done.facts);
    if (!described || described->size() != piece.kernels.size()) {
      done.log.append("error: the compiler's process gave no usable answer\n");
      return;
    }
    Part part{std::move(done.code), nullptr};
    if (!part.load(done.log)) return;
    std::vector<LoadedKernel> loaded(piece.kernels.size());
    for (std::size_t i = 0; i < loaded.size(); ++i)
      if (!find_kernel(*part.object, (*described)[i], piece.kernels[i], loaded[i], done.log)) return;
    const std::lock_guard lock(mutex_);
    parts_.push_back(std::move(part));
    for (std::size_t i = 0; i < loaded.size(); ++i) {
      const std::size_t kernel = piece.kernels[i];
      loaded_[kernel] = std::move(loaded[i]);
      kernels_[place_[kernel]].facts.private_size = (*described)[i].facts.private_size;
      kernels_[place_[kernel]].entry = &loaded_[kernel];
      states_[kernel] = State::ready;
      ready_[kernel].store(true, std::memory_order_release);
    }
    piece.well = true;
  }

  const std::vector<DescribedKernel> all_;
  const Part constants_;  // those that the host may ask for, when there are any
  const LateCompiler compiler_;
  std::vector<std::size_t> place_;   // in kernels_, of those with code
  std::vector<std::size_t> number_;  // the other way; those without have one that is too large

  mutable std::mutex binary_mutex_;  // before mutex_
  mutable std::vector<std::byte> binary_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::vector<State> states_;
  mutable std::vector<bool> alone_;  // a compilation with it failed
  mutable std::map<std::size_t, std::string>
      hopeless_;                                  // those that did when they were alone, and their logs
  mutable std::vector<std::atomic<bool>> ready_;  // the same without the lock, which many threads would share
  mutable std::vector<Part> parts_;
  mutable std::vector<LoadedKernel> loaded_;
  mutable std::vector<CompiledKernel> kernels_;  // entry and private memory are set when a kernel gets ready
};

}  // namespace

BuildResult make_late_program(Compilation compilation, LateCompiler compiler) {
  BuildResult result;
  result.log = std::move(compilation.log);
  auto described = read_facts(compilation.facts);
  if (!described) {
    result.log.append("error: the compiler's process gave no usable answer\n");
    return result;
  }
  Part constants{std::move(compilation.constants), nullptr};
  try {
    if (!constants.code.empty() && !constants.load(result.log)) return result;
  } catch (const std::bad_alloc&) {
    result.status = BuildStatus::out_of_memory;
    return result;
  }
  result.program =
      std::make_shared<LateProgram>(*std::move(described), std::move(constants), std::move(compiler));
  result.status = BuildStatus::ok;
  return result;
}

BuildResult make_late_program(Compilation compilation, const std::string& flags, unsigned seconds) {
  struct Input {
    std::vector<std::byte> intermediate;
    std::vector<DescribedKernel> with_code;
    std::string flags;
  };
  auto described = read_facts(compilation.facts).value_or(std::vector<DescribedKernel>());
  std::erase_if(described, [](const DescribedKernel& kernel) { return !kernel.refused.empty(); });
  const auto input =
      std::make_shared<const Input>(Input{std::move(compilation.code), std::move(described), flags});
  return make_late_program(
      std::move(compilation),
      {[input, seconds](std::span<const std::size_t> wanted, WithoutChild without_child) {
         return compile_kernels(input->intermediate, input->with_code, wanted, input->flags, seconds,
                                without_child);
       },
       [input](std::span<const std::span<const std::byte>> objects,
               std::span<const DescribedKernel> kernels) {
         return bind_objects(objects, kernels, input->flags);
       }});
}

}  // namespace kiln::cpu
