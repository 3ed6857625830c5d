// SPDX-License-Identifier: MIT
// Where operands lie.
#pragma once

#include "xe/unit/code.hpp"

namespace kiln::xe {

/// A source of `lanes`; a reason where it cannot be read. `result_step`: bytes from one result to the next,
/// by which packed immediates of integers are read.
[[nodiscard]] std::string place_source(const Operand& operand, std::uint32_t lanes, std::uint32_t result_step,
                                       Code::Body& body, Place& place, std::uint64_t& immediate);
/// `to_state`: to a state register, which is refused otherwise.
[[nodiscard]] std::string place_result(const Operand& operand, std::uint32_t lanes, Code::Body& body,
                                       Place& place, bool to_state);
/// Whole registers of a message.
[[nodiscard]] std::string place_payload(const Operand& operand, const Code::Body& body, Place& place);

}  // namespace kiln::xe
