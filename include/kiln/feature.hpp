// SPDX-License-Identifier: MIT
// What not every driver or loader has: named, asked for, and refused in words where it is lacking.
#pragma once

#include <cstdint>

namespace kiln {

/// What is newer than Level Zero 1.3. DriverRef::has() tells whether it is there; what needs one that is
/// lacking gives UNSUPPORTED_FEATURE (K0230) and calls nobody.
enum class Feature : std::uint8_t {
  in_order_lists,        ///< ListOptions::in_order; 1.7, Intel's driver since 24.05
  copy_offload,          ///< ListOptions::copy_offload is heard; 1.14
  list_synchronize,      ///< CommandListRef::synchronize(); 1.6
  counter_based_events,  ///< EventRef::create_counter_based(); 1.15, Intel's driver since 24.45
  append_lists,          ///< CommandListRef::append(); an extension since 1.9
  host_functions,        ///< CommandListRef::host_function(); 1.17
  import_host,           ///< import_host(); an extension since 1.14, and one of Intel's before
};

}  // namespace kiln
