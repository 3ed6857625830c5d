// SPDX-License-Identifier: MIT
// The matrix of `kiln check` as text and as JSON.
#include <algorithm>
#include <sstream>

#include "tool/check/driver_question.hpp"
#include "tool/check/matrix.hpp"
#include "tool/common/output.hpp"
#include "tool/common/table.hpp"

namespace kiln::tool {
namespace {

std::string kiln_text(const Cell& cell) {
  if (!cell.fits()) return cell.findings.empty() ? "none" : "no " + cell.findings.front().code;
  return cell.part->is_spirv() ? "yes*" : "yes";
}

std::string driver_text(const DriverAnswer& driver) {
  if (!driver.asked) return "not asked";
  if (!driver.ended_by.empty()) return driver.ended_by;
  return driver.fits ? "yes" : "no";
}

std::string driver_sentence(const DriverAnswer& driver) {
  if (!driver.asked) return "not asked: " + driver.reason;
  std::string text = driver.fits ? "accepted" : "refused: " + driver.call + " gave " + driver.result;
  if (!driver.ended_by.empty()) text = driver.call + " ended the process by " + driver.ended_by;
  return text;
}

/// "a, b", with each name once.
void insert_name(std::string& list, const std::string& name) {
  if ((", " + list + ",").find(", " + name + ",") != list.npos) return;
  list += (list.empty() ? "" : ", ") + name;
}

/// What is said below the table: each text once, headed by the kernels and targets that it is about.
class Remarks {
 public:
  void add(const std::string& text, const std::string& source, const Row& row, const Target& target) {
    auto same = [&](const Remark& remark) { return remark.text == text && remark.source == source; };
    auto found = std::ranges::find_if(remarks_, same);
    if (found == remarks_.end()) found = remarks_.insert(found, {text, source, {}, {}});
    insert_name(found->kernels, row.kernel);
    insert_name(found->targets, std::string(target.name));
  }
  void print() const {
    for (const Remark& remark : remarks_)
      say("\n%s on %s, by %s:\n%s", remark.kernels.c_str(), remark.targets.c_str(), remark.source.c_str(),
          remark.text.c_str());
  }

 private:
  struct Remark {
    std::string text, source, kernels, targets;
  };
  std::vector<Remark> remarks_;
};

std::string source_text(const Cell& cell) {
  if (!cell.part) return "ocloc";
  std::string text = cell.part->file;
  if (!cell.part->part.name.empty()) text += ", member " + cell.part->part.name;
  if (cell.part->is_inside) text += ", the SPIR-V inside";
  if (cell.part->compiled_for) text += ", compiled by ocloc";
  return text;
}

Json to_json(const DriverAnswer& driver) {
  if (!driver.asked) return {{"fits", nullptr}, {"reason", driver.reason}};
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"fits", driver.fits},
          {"call", driver.call},
          {"result", or_null(driver.result)},
          {"ended_by", or_null(driver.ended_by)},
          {"said", or_null(driver.said)}};
}

Json to_json(const Occupancy& occupancy) {
  return {{"groups_per_core", occupancy.groups_per_core},
          {"threads_per_group", occupancy.threads_per_group},
          {"threads_per_core", occupancy.threads_per_core},
          {"slm_per_group", occupancy.slm_per_group},
          {"percent", occupancy.percent()},
          {"limit", to_string(occupancy.limit)}};
}

Json to_json(const Cell& cell, const Target& target) {
  Json json{{"target", target.name}, {"fits", cell.fits()}, {"by", to_string(cell.by())}};
  if (cell.part) json["file"] = cell.part->file;
  if (cell.part && !cell.part->part.name.empty()) json["member"] = cell.part->part.name;
  if (!cell.note.empty()) json["note"] = cell.note;
  json["reasons"] = Json::array();
  json["warnings"] = Json::array();
  for (const Diagnostic& finding : cell.findings)
    json[finding.severity == Severity::error ? "reasons" : "warnings"].push_back(
        Json::parse(kiln::to_json(finding)).value());
  if (cell.occupancy) json["occupancy"] = to_json(*cell.occupancy);
  if (cell.driver) json["driver"] = to_json(*cell.driver);
  if (cell.driver && cell.driver->asked) json["agree"] = !cell.differs();
  if (!cell.known_difference().empty()) json["known_difference"] = cell.known_difference();
  return json;
}

/// A second table, when the size of the groups is known.
void print_occupancy(const Matrix& matrix) {
  std::vector<std::vector<std::string>> table{{"FILES", "KERNEL"}};
  for (const Target* target : matrix.targets) table[0].emplace_back(target->name);
  bool known = false;
  for (const Row& row : matrix.rows) {
    table.push_back({row.family, row.kernel});
    for (const Cell& cell : row.cells) {
      known |= cell.occupancy.has_value();
      table.back().push_back(!cell.occupancy ? "-"
                                             : std::to_string(cell.occupancy->groups_per_core) + ", " +
                                                   std::to_string(cell.occupancy->percent()) + "%, " +
                                                   to_string(cell.occupancy->limit));
    }
  }
  if (!known) return;
  say("\nwork-groups a core at a time, share of its hardware threads, and what allows no more:\n");
  print_table(table, 2);
}

/// Calls `visit` with each row, target and cell.
template <class Visit>
void for_each_cell(const Matrix& matrix, Visit visit) {
  for (const Row& row : matrix.rows)
    for (std::size_t i = 0; i < matrix.targets.size(); ++i) visit(row, *matrix.targets[i], row.cells[i]);
}

void print_footnotes(const Matrix& matrix) {
  bool from_spirv = false, missing = false, asked = false;
  std::vector<std::pair<std::string, std::string>> notes;  // with the targets
  for_each_cell(matrix, [&](const Row&, const Target& target, const Cell& cell) {
    from_spirv |= cell.fits() && cell.part->is_spirv();
    missing |= !cell.kernel && cell.findings.empty();
    asked |= cell.driver.has_value();
    const auto note = [&](const std::string& text) {
      const auto same = [&](const auto& each) { return each.first == text; };
      auto found = std::ranges::find_if(notes, same);
      if (found == notes.end()) found = notes.insert(found, {text, {}});
      insert_name(found->second, std::string(target.name));
    };
    if (!cell.note.empty()) note(cell.note);
    if (cell.driver && !cell.driver->asked) note("the driver was not asked: " + cell.driver->reason);
  });
  if (asked) say("left of the bar: Kiln's answer; right of it: that of Intel's driver without a GPU\n");
  if (from_spirv) say("* by the SPIR-V alone: registers and scratch memory show only in a native binary\n");
  if (missing) say("none: neither a native binary for this target nor SPIR-V\n");
  for (const auto& [note, targets] : notes) say("note: %s: %s\n", targets.c_str(), note.c_str());
}

}  // namespace

void print_text(const Matrix& matrix) {
  std::vector<std::vector<std::string>> table{{"FILES", "KERNEL"}};
  for (const Target* target : matrix.targets) table[0].emplace_back(target->name);
  for (const Row& row : matrix.rows) {
    table.push_back({row.family, row.kernel});
    for (const Cell& cell : row.cells)
      table.back().push_back(kiln_text(cell) + (cell.driver ? " | " + driver_text(*cell.driver) : ""));
  }
  print_table(table, 2, 0, [](std::size_t column, std::string_view cell) {
    return column < 2 ? Paint::none : cell.starts_with("yes") ? Paint::good : Paint::bad;
  });
  print_footnotes(matrix);
  print_occupancy(matrix);

  Remarks remarks;
  for_each_cell(matrix, [&](const Row& row, const Target& target, const Cell& cell) {
    for (const Diagnostic& finding : cell.findings)
      remarks.add(to_text(finding), source_text(cell), row, target);
    if (!cell.driver || !cell.driver->asked || cell.driver->fits) return;
    std::istringstream lines(cell.driver->said);
    std::string said;
    for (std::string line; std::getline(lines, line);)
      if (!line.empty()) said += "  = " + last_words(line) + "\n";  // made fit for a terminal
    remarks.add(driver_sentence(*cell.driver) + "\n" + said, "Intel's driver", row, target);
  });
  remarks.print();
  for_each_cell(matrix, [&](const Row& row, const Target& target, const Cell& cell) {
    if (!cell.known_difference().empty())
      say("\nknown difference: %s on %s: Kiln says %s, the driver: %s\n  = %s\n", row.kernel.c_str(),
          std::string(target.name).c_str(), kiln_text(cell).c_str(), driver_sentence(*cell.driver).c_str(),
          std::string(cell.known_difference()).c_str());
    if (cell.disagrees())
      say("\nDISAGREEMENT: %s on %s: Kiln says %s, the driver: %s\n", row.kernel.c_str(),
          std::string(target.name).c_str(), kiln_text(cell).c_str(), driver_sentence(*cell.driver).c_str());
  });
}

Json to_json(const Matrix& matrix) {
  Json kernels = Json::array();
  for (const Row& row : matrix.rows) {
    Json results = Json::array();
    for (std::size_t i = 0; i < matrix.targets.size(); ++i)
      results.push_back(to_json(row.cells[i], *matrix.targets[i]));
    kernels.push_back({{"files", row.family}, {"kernel", row.kernel}, {"results", results}});
  }
  return kernels;
}

}  // namespace kiln::tool
