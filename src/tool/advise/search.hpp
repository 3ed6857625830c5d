// SPDX-License-Identifier: MIT
// Goes through the alternatives to a launch, each by itself and then with the best so far.
#pragma once

#include <functional>

#include "kiln/result.hpp"
#include "support/json.hpp"
#include "tool/advise/alternative.hpp"
#include "tool/advise/cost.hpp"

namespace kiln::tool {

/// What there is to try. What is left empty is not tried.
struct AdviseSpace {
  Extent items{}, group{};                       ///< of the launch that was given
  std::uint64_t most_group = 0;                  ///< work-items; 0: the group stays
  std::vector<Macro> macros{};                   ///< with the values that were given
  bool has_locals = false;                       ///< `__local` arguments
  std::vector<std::uint64_t> slm{};              ///< other bytes of a sample
  std::vector<std::uint32_t> sub_group_sizes{};  ///< others
  bool registers = false;                        ///< 256 too
};

/// One of them, and what came of it.
struct Trial {
  Alternative what{};
  std::string refused{};  ///< why it is no alternative, such as "K0102" or "answer differs"; empty: it is one
  CountedCost cost{};
  std::vector<std::string> how{};  ///< what to change to get it
  std::uint32_t barriers = 0;      ///< that its code has and could do without: each is left out once
};

struct NotTried {
  std::string what, why;
};

struct Advice {
  std::vector<Trial> trials{};  ///< the first is what was given
  std::size_t best = 0;
  bool is_cut = false;             ///< there was more to try
  std::string product{}, basis{};  ///< of occupancy; empty: not known
  std::vector<NotTried> not_tried{};
};

/// `run`: an error ends the search; what the device or the kernel does not take is a Trial that says so.
using TryOne = std::function<Result<Trial>(const Alternative&)>;
/// At most `most` runs, that of what was given included. Pure but for `run`.
[[nodiscard]] Result<Advice> search(const AdviseSpace& space, std::size_t most, const TryOne& run);

/// "groups of 64 x 4, sub-groups of 32"; "as given" for none. Pure.
[[nodiscard]] std::string words_of(const Alternative& alternative);

/// As `advice` in what `kiln run --advise --json` prints. Pure.
[[nodiscard]] detail::Json advice_json(const Advice& advice);
/// Places in its `tried`, the cheapest first; behind them those that were refused. Pure.
[[nodiscard]] std::vector<std::size_t> by_cost(const detail::Json& advice);
/// The same as a table on standard output.
void print_advice(const detail::Json& advice);

}  // namespace kiln::tool
