// SPDX-License-Identifier: MIT
// Finds the atomic additions that may be made in memory when a thread has done its groups.
#pragma once

namespace llvm {
class Function;
class Instruction;
}  // namespace llvm

namespace kiln::cpu {

/// Marks them in a group entry whose items have not become lanes. Nobody asks what such an addition gives;
/// nothing that the group does behind one reads or writes global memory but such additions, and nothing in
/// the kernel waits for what another group writes: no fence, no other atomic access, none that is volatile.
/// So no program can tell, but by a race, when they are made. In memory of the host and of devices alike, all
/// that was written before them is there before.
void find_deferred_updates(llvm::Function& entry);
[[nodiscard]] bool is_deferred(const llvm::Instruction& update);

}  // namespace kiln::cpu
