// SPDX-License-Identifier: MIT
// All of Kiln's public headers, in the order of its layers.
#pragma once

#include "kiln/version.hpp"
// Values
#include "kiln/diagnostic.hpp"
#include "kiln/extent.hpp"
#include "kiln/log.hpp"
#include "kiln/result.hpp"
// Products and files
#include "kiln/binary.hpp"
#include "kiln/needs.hpp"
#include "kiln/product.hpp"
// Checks
#include "kiln/allocation.hpp"
#include "kiln/check.hpp"
#include "kiln/occupancy.hpp"
#include "kiln/target.hpp"
// Where memory went
#include "kiln/memory_account.hpp"
// Diagnoses
#include "kiln/explain.hpp"
#include "kiln/refusal.hpp"
// Level Zero
#include "kiln/abi.hpp"
#include "kiln/api.hpp"
#include "kiln/command_list.hpp"
#include "kiln/context.hpp"
#include "kiln/device.hpp"
#include "kiln/event.hpp"
#include "kiln/feature.hpp"
#include "kiln/handle.hpp"
#include "kiln/memory.hpp"
#include "kiln/module.hpp"
#include "kiln/observe.hpp"
#include "kiln/open.hpp"
#include "kiln/sharing.hpp"
#include "kiln/structures.hpp"
// Launches
#include "kiln/cooperative.hpp"
#include "kiln/launch.hpp"
// The kernel cache
#include "kiln/cache.hpp"
#include "kiln/manifest.hpp"
// Modules and bundles
#include "kiln/build.hpp"
#include "kiln/bundle.hpp"
#include "kiln/source.hpp"
