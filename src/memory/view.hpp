// SPDX-License-Identifier: MIT
// A memory account as the rules look at it: the card that a request is about, and the sums.
#pragma once

#include <string>
#include <vector>

#include "kiln/memory_account.hpp"

namespace kiln::detail {

/// Memory that a process holds on a card, or of the host through it.
struct Holder {
  std::uint32_t process = 0;
  std::string program{};
  std::uint64_t bytes = 0;
};

struct MemoryView {
  MemoryView(const MemoryAccount& account, const MemoryRequest& request);

  const MemoryAccount& account;
  const MemoryRequest& request;
  const MemoryCard* card = nullptr;    ///< null: not known which, or none of the account
  std::optional<std::uint64_t> total;  ///< device memory of that card
  std::optional<std::uint64_t> free;   ///< by its driver or the kernel, else at most: what no client holds
  bool is_told = false;                ///< `free`, by one of those two
  bool is_tile = false;        ///< the device may be a part of the card, and clients hold of all of it
  std::uint64_t own = 0;       ///< device memory of it that the account's process holds
  std::vector<Holder> others;  ///< of it, most first
  std::uint64_t others_sum = 0;

  /// Memory of its own, of a size that is known.
  [[nodiscard]] bool is_dedicated() const { return total && *total != 0; }
  /// Its memory is the host's: by its driver, else part of the processor, which Intel always puts at this
  /// address. Virtual machines put cards there too, which have memory of their own.
  [[nodiscard]] bool is_integrated() const {
    return request.integrated.value_or(card && card->address == "0000:00:02.0" && !card->total);
  }
  /// Does an allocation need memory of the host? Those of the host do, all of an integrated card, and on xe
  /// also those of the card itself: see K0240.
  [[nodiscard]] bool needs_host() const;
};

/// Host memory behind device memory: of the kernel driver xe, with Intel's driver from 26.05 on.
[[nodiscard]] bool has_host_behind(const MemoryCard& card);

/// "`llama-server` (process 1234)".
[[nodiscard]] std::string holder_text(const Holder& holder);

}  // namespace kiln::detail
