// SPDX-License-Identifier: MIT
// Makes the questions, runs the children and reads their lines.
#include "tool/check/driver.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "product/profile.hpp"
#include "support/private_folder.hpp"
#include "tool/check/driver_question.hpp"
#include "tool/common/parallel.hpp"

namespace kiln::tool {
namespace {

using std::chrono::milliseconds;

/// The device `capture:PRODUCT` that stands for a target; empty: none does.
std::string_view capture_product(const Target& target) {
  for (const std::string_view name : product::kProfileNames)
    if (find_target(name) == &target) return name;
  return {};
}

KernelQuestion question_of(const KernelFacts& kernel, const CheckRequest& request) {
  KernelQuestion question;
  question.name = kernel.name;
  const KernelRequest wanted = request.of(kernel);
  const bool has_locals =
      std::ranges::any_of(wanted.local_bytes, [](std::uint64_t bytes) { return bytes != 0; });
  question.launch = wanted.group_size || wanted.groups || has_locals;
  const auto& required = kernel.required_group_size;
  if (required[0] != 0) question.group_size = {required[0], required[1], required[2]};
  if (wanted.group_size) question.group_size = *wanted.group_size;
  if (wanted.groups) question.groups = *wanted.groups;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const ArgumentFacts& argument = kernel.arguments[i];
    const bool local = argument.kind == ArgumentKind::local_pointer;
    const std::uint64_t bytes = local ? wanted.local_bytes[i] : argument.size;
    // Images and samplers have no null; a size of 0 is one that nobody knows, and stays unset.
    const bool is_object = argument.kind == ArgumentKind::image || argument.kind == ArgumentKind::sampler;
    if (argument.kind != ArgumentKind::other && !is_object && bytes != 0)
      question.arguments.push_back({static_cast<std::uint32_t>(i), argument.kind, bytes});
  }
  return question;
}

std::string read_text(const std::filesystem::path& path) {
  const auto file = read_kernel_file(path);
  return file ? std::string(reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size()) : "";
}

/// One target's cells, and the questions about those that have no answer yet.
class Interview {
 public:
  Interview(const Target& target, const CheckRequest& request, const std::string& flags,
            const std::vector<Cell*>& cells)
      : product_(capture_product(target)), flags_(flags) {
    for (Cell* cell : cells) {
      cell->driver.emplace();
      if (!cell->part || !cell->kernel)
        cell->driver->reason = "there is no code to ask it about";
      else if (product_.empty())
        cell->driver->reason = "without a GPU the driver cannot be " + std::string(target.name);
      else
        open_.push_back({cell, question_of(*cell->kernel, request)});
    }
  }

  /// K0306 and the like when the driver cannot be opened at all.
  std::optional<Diagnostic> run(milliseconds time_limit) {
    const auto made = detail::PrivateFolder::make();
    const Diagnostic no_room{"K0306", "no room in the temporary folder (TMPDIR)", {}, {}};
    if (!made) return not_asked(no_room);
    const std::filesystem::path& folder = made->path();
    // Each child answers at least one question, or all of them by its end.
    while (!open_.empty() && !InterruptGuard::interrupted()) {
      if (!write_question(folder)) return not_asked(no_room);
      const auto result =
          run_process({{"/proc/self/exe", "driver-child", "question.json"}, folder, time_limit});
      std::istringstream lines(result.out);
      DriverLine last;
      for (std::string text; std::getline(lines, text);)
        if (const auto line = parse_line(text)) {
          last = *line;
          if (!line->code.empty()) return not_asked({line->code, line->said, {}, {}});
          if (line->result) take(*line, {});
        }
      const std::string end = result.ended_by(time_limit);
      if (!result.succeeded() && last.call.empty())
        return not_asked({"K0306", "the child process ended by " + end, {}, {}});
      if (!result.succeeded() && !last.result) {
        last.said = last_words(read_text(folder / kPrintedFile));
        take(last, end);
      } else if (!result.succeeded()) {  // between two kernels
        take({-1, -1, last.call, {}, last_words(read_text(folder / kPrintedFile)), {}}, end);
      }
      std::erase_if(open_, [](const Open& each) { return each.cell->driver->asked; });
      if (result.succeeded() && !open_.empty())
        return not_asked({"K0306", "the child process left questions unanswered", {}, {}});
    }
    return std::nullopt;
  }

 private:
  struct Open {
    Cell* cell;
    KernelQuestion question;
    int module = 0, kernel = 0;  // in the question that was written last
  };

  bool write_question(const std::filesystem::path& folder) {
    DriverQuestion question{std::string(product_), {}};
    std::map<const Part*, int> modules;
    for (Open& each : open_) {
      const Part& part = *each.cell->part;
      const auto [found, is_new] = modules.emplace(&part, static_cast<int>(modules.size()));
      each.module = found->second;
      if (is_new) {
        const std::string file = std::to_string(each.module) + ".bin";
        std::ofstream code(folder / file, std::ios::binary);
        code.write(reinterpret_cast<const char*>(part.code.data()),
                   static_cast<std::streamsize>(part.code.size()));
        if (!code.flush()) return false;
        question.modules.push_back({file, part.is_spirv(), part.is_spirv() ? flags_ : "", {}});
      }
      auto& kernels = question.modules[static_cast<std::size_t>(each.module)].kernels;
      each.kernel = static_cast<int>(kernels.size());
      kernels.push_back(each.question);
    }
    std::ofstream file(folder / "question.json", std::ios::binary);
    file << to_json(question).dump();
    return static_cast<bool>(file.flush());
  }

  void take(const DriverLine& line, const std::string& ended_by) {
    for (Open& each : open_) {
      DriverAnswer& answer = *each.cell->driver;
      const bool about =
          (line.module < 0 || line.module == each.module) && (line.kernel < 0 || line.kernel == each.kernel);
      if (!about || answer.asked) continue;
      answer = {true, false, {}, line.call, line.result.value_or(""), ended_by, line.said};
      answer.fits = ended_by.empty() && line.result == result_name(ZE_RESULT_SUCCESS);
    }
  }

  std::optional<Diagnostic> not_asked(Diagnostic why) {
    for (Open& each : open_) each.cell->driver->reason = why.message;
    open_.clear();
    if (why.code == "K0308") return std::nullopt;
    why.help = {
        "install Intel's driver: `apt install intel-opencl-icd` on Debian 12, `apt install libze-intel-gpu1` "
        "on Debian testing and newer Ubuntu (Debian 13 has none)",
        "or leave --driver out"};
    return why;
  }

  std::string_view product_;
  std::string flags_;
  std::vector<Open> open_;
};

}  // namespace

std::optional<Error> ask_driver(Matrix& matrix, const CheckRequest& request, const std::string& flags,
                                milliseconds time_limit) {
  std::vector<Interview> interviews;
  for (std::size_t i = 0; i < matrix.targets.size(); ++i) {
    std::vector<Cell*> cells;
    for (Row& row : matrix.rows) cells.push_back(&row.cells[i]);
    interviews.emplace_back(*matrix.targets[i], request, flags, cells);
  }
  std::vector<std::optional<Diagnostic>> failures(interviews.size());
  in_parallel(interviews.size(), "asking the driver",
              [&](std::size_t i) { failures[i] = interviews[i].run(time_limit); });
  for (const auto& failure : failures)
    if (failure) return Error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "open_device", *failure);
  return std::nullopt;
}

}  // namespace kiln::tool
