// SPDX-License-Identifier: MIT
// Handlers of control flow.
#pragma once

#include "xe/unit/thread.hpp"

namespace kiln::xe {

void flow_nothing(Thread& thread, const Op& op);
void flow_if(Thread& thread, const Op& op);
void flow_else(Thread& thread, const Op& op);
void flow_join(Thread& thread, const Op& op);
void flow_while(Thread& thread, const Op& op);
void flow_break(Thread& thread, const Op& op);
void flow_goto(Thread& thread, const Op& op);
void flow_jump(Thread& thread, const Op& op);
void flow_call(Thread& thread, const Op& op);
/// brd: those it is taken for go on elsewhere, the others behind it.
void flow_divergent(Thread& thread, const Op& op);
void flow_return(Thread& thread, const Op& op);

/// The op at an offset of the code that the thread executes, or kNowhere.
[[nodiscard]] std::uint32_t find_op(const Thread& thread, std::uint32_t offset);

}  // namespace kiln::xe
