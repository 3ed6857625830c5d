// SPDX-License-Identifier: MIT
// Findings and changes first, then each kernel: its numbers, messages, loops, mix, and source beside code.
#include "tool/analyze/native_page.hpp"

#include <algorithm>
#include <cstdio>

#include "tool/analyze/executed_counts.hpp"
#include "tool/report/html.hpp"
#include "tool/report/report.hpp"

namespace kiln::tool {
namespace {

constexpr std::uint32_t kEnoughOccupancy = 75;   // percent, as K0808 has it
constexpr std::size_t kMostInstructions = 5000;  // of a kernel, that are shown
constexpr std::size_t kShortTable = 12;          // rows; a longer one is opened by who wants it
constexpr std::size_t kMostSourceBytes = 4 << 20;

std::string hexadecimal_text(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string title_of(const AnalyzedKernel& kernel) {
  return code(kernel.facts.name) + " for " + escaped(std::string(kernel.target->name));
}

std::uint64_t scratch_in_loops(const AnalyzedKernel& kernel) {
  std::uint64_t most = 0;
  for (const xe::Loop& loop : kernel.code.loops) {
    std::uint64_t messages = 0;
    for (const xe::MessageEntry& each : loop.messages)
      if (each.message.unit == xe::Unit::scratch) messages += each.count;
    most = std::max(most, messages);
  }
  return most;
}

std::string note_article(const AnalyzedKernel& kernel, const NativeNote& note) {
  std::string html = "<article class=\"finding\"><div class=\"said\"><h3><b class=\"tag warn\">" +
                     escaped(kernel.facts.name) + "</b> " + shown_text(as_sentence(note.title)) + "</h3>\n";
  for (const std::string& help : note.help) html += "<p class=\"help\">" + shown_text(help) + "</p>\n";
  return html + "<p class=\"where\">" + title_of(kernel) + " of " + code(kernel.file) +
         "</p></div></article>\n";
}

std::string changes_section(const Comparison& comparison) {
  std::string html = "<section id=\"changes\"><h2>What changed</h2>\n";
  std::vector<std::vector<std::string>> rows;
  for (const Change& each : comparison.changes) {
    const double before = static_cast<double>(each.before), now = static_cast<double>(each.now);
    rows.push_back({code(each.kernel) + " <small>" + escaped(each.target) + "</small>",
                    words_of(each.measure),
                    each.worse() ? "<b class=\"tag bad\">worse</b>" : "<b class=\"tag good\">better</b>",
                    number(each.before), number(each.now), each.before ? number(now / before) + " ×" : "–"});
  }
  if (rows.empty())
    html += comparison.matched ? "<p>Nothing changed.</p>\n"
                               : "<p class=\"missing\">No kernel is on both sides.</p>\n";
  else
    html +=
        table("The worst first", {"Kernel", "What", "Verdict", "Before", "Now", "Now to before"}, rows, 3);
  for (const std::string& each : comparison.unmatched)
    html += "<p class=\"note\">Only on one side: " + escaped(each) + "</p>\n";
  return html + "</section>\n";
}

/// Numbers of all kernels, one row each.
std::string overview_section(const std::vector<AnalyzedKernel>& kernels) {
  std::uint64_t most = 1;
  for (const AnalyzedKernel& each : kernels) most = std::max(most, each.code.instructions);
  std::vector<std::vector<std::string>> rows;
  for (const AnalyzedKernel& each : kernels) {
    const std::uint32_t full = each.occupancy.percent();
    rows.push_back({title_of(each), number(each.code.instructions),
                    bar(percent(static_cast<double>(each.code.instructions), static_cast<double>(most))),
                    number(std::uint64_t{each.facts.simd_size}), number(std::uint64_t{each.facts.grf_count}),
                    each.code.live.known ? number(std::uint64_t{each.code.live.peak}) : "–",
                    number(std::uint64_t{each.facts.spill_size}),
                    each.code.loops_known ? number(std::uint64_t{each.code.loops.size()}) : "–",
                    bar(full, full < kEnoughOccupancy ? "limit" : ""), number(std::uint64_t{full}) + " %"});
  }
  return "<section id=\"kernels\"><h2>Kernels</h2>\n" +
         table("One row a kernel and product",
               {"Kernel", "Instructions", "", "SIMD", "Registers", "Live at most", "Spilled bytes", "Loops",
                "Occupancy", ""},
               rows, 1) +
         "</section>\n";
}

std::string facts_list(const AnalyzedKernel& kernel) {
  std::string html = "<dl class=\"facts\">";
  const auto fact = [&](const char* name, const std::string& value) {
    html += "<div><dt>" + std::string(name) + "</dt><dd>" + value + "</dd></div>\n";
  };
  const auto whole = [](std::uint64_t value) { return number(value); };
  const xe::CodeAnalysis& is = kernel.code;
  fact("Instructions", whole(is.instructions) + " in " + whole(is.bytes) + " B");
  fact("SIMD width", whole(kernel.facts.simd_size));
  fact("Registers", whole(kernel.facts.grf_count));
  fact("Live registers", is.live.known ? whole(is.live.peak) + " at " + code(hexadecimal_text(is.live.at)) +
                                             (is.live.indirect ? ", and indirect ones" : "")
                                       : "not known");
  fact("Spilled registers", whole(kernel.facts.spill_size) + " B");
  fact("Scratch", whole(is.count(xe::Unit::scratch, xe::Action::store)) + " stores, " +
                      whole(is.count(xe::Unit::scratch, xe::Action::load)) + " loads");
  fact("SLM", whole(kernel.slm) + " B" + (kernel.slm_known ? "" : ", and what --local says of the rest"));
  fact("Occupancy", whole(kernel.occupancy.percent()) + " % with groups of " + whole(kernel.group) +
                        ", limited by " + to_string(kernel.occupancy.limit));
  if (const auto& executed = kernel.executed) {
    fact("Executed", whole(executed->instructions) + " instructions in " + whole(executed->threads) +
                         " threads, " + whole(executed->groups) + " groups");
    if (executed->simd_efficiency.is_number())
      fact("Active lanes", number(100 * executed->simd_efficiency.get<double>()) + " %");
    fact("Scratch traffic", whole(executed->scratch["messages"].get<std::uint64_t>()) + " messages, " +
                                whole(executed->scratch["bytes"].get<std::uint64_t>()) + " B");
  }
  return html + "</dl>\n";
}

std::string messages_table(const AnalyzedKernel& kernel) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> heads{"Message", "Count", "Bytes", "Registers sent", "Registers received"};
  if (kernel.executed)
    for (const char* each : {"Executed", "Bytes moved", "Cache lines", "Turns", "Of conflicts"})
      heads.emplace_back(each);
  for (const xe::MessageEntry& each : kernel.code.messages) {
    rows.push_back({escaped(each.message.text()), number(each.count),
                    each.message.bytes() ? number(each.message.bytes()) : "–",
                    number(std::uint64_t{each.message.sent}), number(std::uint64_t{each.message.received})});
    if (!kernel.executed) continue;
    const ExecutedCount count = executed_of(kernel, each.message);
    const bool slm = each.message.unit == xe::Unit::slm;
    for (const std::string& cell :
         {number(count.executed), number(count.bytes), slm ? "–" : number(count.lines),
          slm ? number(count.turns) : "–", slm ? number(count.conflicts) : "–"})
      rows.back().push_back(cell);
  }
  if (rows.empty()) return {};
  return table("Messages, by unit", heads, rows, 1);
}

std::string loops_table(const AnalyzedKernel& kernel) {
  if (!kernel.code.loops_known)
    return "<p class=\"missing\">Loops are not known, as there are more than are looked at.</p>\n";
  std::vector<std::vector<std::string>> rows;
  for (const xe::Loop& each : kernel.code.loops) {
    std::map<xe::Unit, std::uint64_t> units;
    for (const xe::MessageEntry& entry : each.messages) units[entry.message.unit] += entry.count;
    std::string messages;
    for (const auto& [unit, times] : units)
      messages +=
          (messages.empty() ? "" : ", ") + number(times) + " " + escaped(std::string(to_string(unit)));
    rows.push_back({code(hexadecimal_text(each.begin) + " to " + hexadecimal_text(each.end)),
                    messages.empty() ? "–" : messages, number(std::uint64_t{each.depth}),
                    number(each.instructions)});
    if (kernel.executed) rows.back().push_back(number(walks_of(kernel, each)));
  }
  if (rows.empty()) return {};
  std::vector<std::string> heads{"Place", "Messages", "Depth", "Instructions"};
  if (kernel.executed) heads.emplace_back("Walks of all threads");
  return table("Loops, one walk each", heads, rows, 2);
}

std::string mix_table(const AnalyzedKernel& kernel) {
  std::map<std::string, std::uint64_t> kinds;
  std::vector<xe::MixEntry> mix = kernel.code.mix;
  std::ranges::stable_sort(mix, std::ranges::greater{}, &xe::MixEntry::count);
  std::vector<std::vector<std::string>> rows;
  for (const xe::MixEntry& each : mix)
    rows.push_back(
        {escaped(std::string(to_string(each.kind))),
         each.type == xe::Type::none ? "–" : code(to_string(each.type)),
         bar(percent(static_cast<double>(each.count), static_cast<double>(kernel.code.instructions))),
         number(std::uint64_t{each.lanes}), number(each.count)});
  std::vector<std::string> heads{"Kind", "Type", "Share", "Lanes", "Count"};
  if (kernel.executed) {
    heads.insert(heads.end(), {"Executed", "Active lanes"});
    for (std::size_t i = 0; i < mix.size(); ++i) {
      const ExecutedCount count = executed_of(kernel, mix[i]);
      rows[i].push_back(number(count.executed));
      rows[i].push_back(number(count.lanes));
    }
  }
  std::vector<std::pair<std::string, std::uint64_t>> sums;
  for (const xe::MixEntry& each : mix) kinds[std::string(to_string(each.kind))] += each.count;
  sums.assign(kinds.begin(), kinds.end());
  std::ranges::stable_sort(sums, std::ranges::greater{}, [](const auto& each) { return each.second; });
  std::vector<std::vector<std::string>> few;
  for (const auto& [kind, times] : sums)
    few.push_back({escaped(kind),
                   bar(percent(static_cast<double>(times), static_cast<double>(kernel.code.instructions))),
                   number(times)});
  const std::string short_html = table("Instructions by kind", {"Kind", "Share", "Count"}, few, 2);
  const std::string html = table("By kind, type and lanes", heads, rows, 3);
  if (rows.size() <= kShortTable) return html;
  return short_html + "<details><summary>Instructions by kind, type and lanes</summary>" + html +
         "</details>\n";
}

/// With two spaces at most between words: libiga64 sets columns apart by dozens.
std::string narrowed(std::string_view line) {
  std::string text;
  std::size_t spaces = 0;
  for (const char c : line.substr(0, line.find_last_not_of(" \t\r") + 1)) {
    spaces = c == ' ' ? spaces + 1 : 0;
    if (spaces <= 2) text += c;
  }
  return text;
}

/// Instructions of one line in one go.
struct Stretch {
  std::string file;
  std::uint32_t line = 0;
  std::string text;
  std::uint64_t executed = 0;  ///< instructions, of all threads
};

/// The text of the code, cut where the source line changes.
std::vector<Stretch> stretches_of(const AnalyzedKernel& kernel, bool& is_cut) {
  std::vector<Stretch> all;
  std::size_t index = 0;  // of the instruction
  for (std::size_t at = 0; at < kernel.text.size();) {
    const std::size_t end = std::min(kernel.text.find('\n', at), kernel.text.size());
    const std::string_view line = std::string_view(kernel.text).substr(at, end - at);
    at = end + 1;
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    if (index >= kMostInstructions) {
      is_cut = true;
      break;
    }
    const bool is_label = line.starts_with('L') && line.ends_with(':');
    const InstructionLine none{}, &from = index < kernel.places.size() ? kernel.places[index] : none;
    if (all.empty() || (!is_label && (all.back().line != from.line || all.back().file != from.file)))
      all.push_back({from.file, from.line, ""});
    all.back().text += narrowed(line) + "\n";
    if (!is_label && kernel.executed && index < kernel.executed->counts.size())
      all.back().executed += kernel.executed->counts[index].executed;
    index += is_label ? 0 : 1;
  }
  return all;
}

std::string line_of(const std::string& source, std::uint32_t line) {
  std::size_t at = 0;
  for (std::uint32_t i = 1; i < line; ++i) {
    at = source.find('\n', at);
    if (at == source.npos) return {};
    ++at;
  }
  return source.substr(at, std::min(source.find('\n', at), source.size()) - at);
}

std::string listing(const AnalyzedKernel& kernel, const std::map<std::string, std::string>& sources) {
  bool is_cut = false;
  const std::vector<Stretch> all = stretches_of(kernel, is_cut);
  std::vector<std::vector<std::string>> rows;
  for (const Stretch& each : all) {
    const auto source = sources.find(each.file);
    std::string place = each.line ? number(std::uint64_t{each.line}) : "–";
    std::string text;
    if (each.line && source != sources.end() && source->second.size() <= kMostSourceBytes)
      text = "<pre>" + code(line_of(source->second, each.line)) + "</pre>";
    else if (each.line)
      text = "<small>" + escaped(each.file) + "</small>";
    rows.push_back({place, text, "<pre>" + code(each.text) + "</pre>"});
    if (kernel.executed) rows.back().push_back(number(each.executed));
  }
  if (rows.empty()) return {};
  std::string html = "<details><summary>Source and code, line by line</summary>\n";
  if (kernel.lines.empty())
    html +=
        "<p class=\"missing\">The code has no lines of its source: it was built without <code>-g</code> "
        "(<code>--options=-g</code>).</p>\n";
  std::vector<std::string> heads{"Line", "Source", "Code"};
  if (kernel.executed) heads.emplace_back("Executed");
  html += "<div class=\"beside\">" + table("In the order of the code", heads, rows, 3) + "</div>\n";
  if (is_cut)
    html += "<p class=\"note\">The first " + number(std::uint64_t{kMostInstructions}) +
            " instructions are shown; <code>--disassemble</code> prints all.</p>\n";
  return html + "</details>\n";
}

/// Lines of the source that cost most.
std::string lines_table(const AnalyzedKernel& kernel, const std::map<std::string, std::string>& sources) {
  std::vector<LineCost> worst = kernel.lines;
  if (worst.empty()) return {};
  std::ranges::stable_sort(worst, std::ranges::greater{}, [&](const LineCost& each) {
    return kernel.executed ? each.executed.executed : each.instructions;
  });
  worst.resize(std::min<std::size_t>(worst.size(), 10));
  std::vector<std::vector<std::string>> rows;
  for (const LineCost& each : worst) {
    const auto source = sources.find(each.file);
    rows.push_back(
        {number(std::uint64_t{each.line}),
         source != sources.end() ? "<pre>" + code(line_of(source->second, each.line)) + "</pre>"
                                 : escaped(each.file),
         bar(percent(static_cast<double>(each.instructions), static_cast<double>(kernel.code.instructions))),
         number(each.instructions), number(each.messages)});
    if (!kernel.executed) continue;
    const ExecutedCount& count = each.executed;
    for (const std::uint64_t figure : {count.executed, count.bytes, count.lines, count.conflicts})
      rows.back().push_back(number(figure));
  }
  std::vector<std::string> heads{"Line", "Source", "Share", "Instructions", "Messages"};
  if (kernel.executed)
    for (const char* each : {"Executed", "Bytes moved", "Cache lines", "Turns of conflicts"})
      heads.emplace_back(each);
  return table("Lines of the source that cost most", heads, rows, 3);
}

}  // namespace

std::vector<NativeNote> notes_of(const AnalyzedKernel& kernel) {
  std::vector<NativeNote> notes;
  const std::uint64_t spilled = kernel.facts.spill_size, scratch = kernel.code.count(xe::Unit::scratch);
  if (spilled > 0 || scratch > 0) {
    const std::uint64_t in_loop = scratch_in_loops(kernel);
    NativeNote note;
    note.title = spilled > 0 ? std::to_string(spilled) + " bytes of registers are spilled"
                             : std::to_string(scratch) +
                                   " messages go to scratch: private arrays, or spilled registers";
    if (in_loop) note.title += ", with " + std::to_string(in_loop) + " messages to scratch in a loop";
    if (kernel.facts.grf_count == 128 && target_limits(*kernel.target).generation != Generation::gen12lp)
      note.help.emplace_back(
          "build with `-ze-opt-large-register-file`: twice the registers, half the hardware threads");
    if (kernel.facts.simd_size == 32)
      note.help.emplace_back("sub-groups of 16 instead of 32 need half the registers");
    note.help.emplace_back("let less live at one time: smaller tiles, loops that are unrolled less");
    notes.push_back(std::move(note));
  }
  if (kernel.occupancy.groups_per_core > 0 && kernel.occupancy.percent() < kEnoughOccupancy)
    notes.push_back({"only " + std::to_string(kernel.occupancy.percent()) +
                         " % of a core's hardware threads have work, with groups of " +
                         std::to_string(kernel.group) + ": limited by " + to_string(kernel.occupancy.limit),
                     {kernel.occupancy.limit == Resource::slm ? "ask for less SLM a work-group"
                      : kernel.occupancy.limit == Resource::barriers
                          ? "make work-groups larger: fewer of them share the barriers of a core"
                          : "choose a work-group whose hardware threads divide " +
                                std::to_string(kernel.occupancy.threads_per_core)}});
  return notes;
}

std::string native_page(const NativePage& page) {
  std::string found;
  std::size_t count_of_notes = 0;
  const NativeNote* first = nullptr;
  std::vector<std::vector<NativeNote>> notes;
  for (const AnalyzedKernel& each : page.kernels) notes.push_back(notes_of(each));
  for (const Diagnostic& each : page.problems) found += finding_article(each, "");
  for (std::size_t i = 0; i < page.kernels.size(); ++i)
    for (const NativeNote& each : notes[i]) {
      if (!first) first = &each;
      found += note_article(page.kernels[i], each);
      ++count_of_notes;
    }
  const std::size_t worse =
      page.comparison
          ? static_cast<std::size_t>(std::ranges::count_if(page.comparison->changes, &Change::worse))
          : 0;
  std::string headline;
  if (!page.problems.empty())
    headline = shown_text(as_sentence(page.problems.front().message));
  else if (page.comparison)
    headline = page.comparison->matched == 0      ? "No kernel is on both sides"
               : page.comparison->changes.empty() ? "Nothing changed"
               : worse                            ? count(worse, "number is", "numbers are") + " worse"
                                                  : "What changed is better";
  else
    headline = first ? shown_text(as_sentence(first->title)) : "Nothing to change was found";
  std::string main;
  if (page.comparison) main += changes_section(*page.comparison);
  if (!found.empty())
    main +=
        "<section id=\"findings\"><h2>" +
        (page.problems.size() + count_of_notes == 1
             ? std::string("What was found, and what to change")
             : count(page.problems.size() + count_of_notes, "finding", "findings") + ", and what to change") +
        "</h2>\n" + found + "</section>\n";
  main += overview_section(page.kernels);
  for (const AnalyzedKernel& each : page.kernels)
    main += "<section class=\"kernel\"><h2>" + title_of(each) + " <small>" + escaped(each.file) +
            "</small></h2>\n" + facts_list(each) + lines_table(each, page.sources) + messages_table(each) +
            loops_table(each) + mix_table(each) + listing(each, page.sources) + "</section>\n";
  std::string files;
  for (const AnalyzedKernel& each : page.kernels)
    if (files.find(code(each.file)) == files.npos) files += (files.empty() ? "" : ", ") + code(each.file);
  return whole_page(
      {"native code", "native code of " + files, headline,
       first && page.problems.empty() && !page.comparison && !first->help.empty()
           ? "<p class=\"help lead\">" + shown_text(as_sentence(first->help.front())) + "</p>"
           : "",
       std::ranges::any_of(page.kernels, [](const auto& each) { return each.executed.has_value(); })
           ? "Counted in the instructions, and as a simulated GPU executed them: a functional machine, "
             "of which nothing here is a time."
           : "Counted in the instructions; nothing was executed, and nothing here is a time."},
      main);
}

}  // namespace kiln::tool
