// SPDX-License-Identifier: MIT
// All of Kiln's public headers, in the order of its layers.
#pragma once

#include "kiln/version.hpp"
//
#include "kiln/diagnostic.hpp"
#include "kiln/explain.hpp"
#include "kiln/log.hpp"
#include "kiln/result.hpp"
//
#include "kiln/abi.hpp"
#include "kiln/api.hpp"
#include "kiln/command_list.hpp"
#include "kiln/context.hpp"
#include "kiln/device.hpp"
#include "kiln/event.hpp"
#include "kiln/extent.hpp"
#include "kiln/handle.hpp"
#include "kiln/memory.hpp"
#include "kiln/module.hpp"
#include "kiln/open.hpp"
#include "kiln/structures.hpp"
//
#include "kiln/allocation.hpp"
#include "kiln/binary.hpp"
#include "kiln/check.hpp"
#include "kiln/cooperative.hpp"
#include "kiln/launch.hpp"
#include "kiln/needs.hpp"
#include "kiln/occupancy.hpp"
#include "kiln/refusal.hpp"
#include "kiln/target.hpp"
//
#include "kiln/cache.hpp"
#include "kiln/manifest.hpp"
//
#include "kiln/build.hpp"
#include "kiln/bundle.hpp"
