// SPDX-License-Identifier: MIT
// An engine in C: the frame graph of ../README.md, and what a run of it is told and tells.
#pragma once

#include <kiln/kiln.h>
#include <stdbool.h>
#include <time.h>

enum { kSlots = 2, kBands = 4, kBlock = 4096, kBins = 256, kRadius = 1, kTaps = 3, kMostThreads = 64 };

typedef enum Pass { kUpload, kHistogram, kScan, kMultiply, kConvolve, kReduce, kReadback, kPasses } Pass;
/// A list each, recorded by any thread.
typedef enum Task {
  kUploadTask,
  kAnalysisTask,
  kFirstBandTask,
  kFinishTask = kFirstBandTask + kBands,
  kReadbackTask,
  kTasks
} Task;

typedef struct Options {
  const char *device, *pick, *kernels, *watch, *submission;
  uint32_t frames, size, tile, threads, timeout;
  bool check, json, step, list_devices;
} Options;

/// A thread's own.
typedef struct Kernels {
  kiln_kernel multiply, histogram, scan, reduce, convolve;
} Kernels;

/// What a frame in flight has for itself.
typedef struct Slot {
  kiln_buffer staging, results, ticks, image, cumulative, filtered, total;
  kiln_event uploaded, scanned, finished, read;
  kiln_list lists[kTasks];
  uint64_t frame;
  bool in_flight;
} Slot;

/// An immediate list in order that closed ones are appended to, or a queue where the driver is older.
typedef struct Lane {
  kiln_list immediate;
  kiln_queue queue;
  uint32_t group;
} Lane;

typedef struct Outcome {
  uint64_t frame;
  uint32_t size, total;
  double microseconds[kPasses];
  char wrong[128];  ///< empty: right, or not compared
} Outcome;
typedef void (*Sink)(void* user, const Outcome* outcome);

typedef struct Recorders Recorders;

typedef struct Engine {
  const Options* options;
  kiln_cache cache;
  Recorders* recorders;
  Sink sink;
  void* user;
  kiln_device device;
  char name[256], uuid[33];
  uint64_t ticks_per_second, ticks_mask;
  bool discrete, in_order, append;
  Lane main, analysis, copy;
  kiln_bundle passes, convolve;
  Kernels kernels[kMostThreads];
  kiln_event_pool events;
  kiln_buffer constants;  ///< in host memory, uploaded to the next two
  kiln_buffer weights, taps, product, bins, partials;
  Slot slots[kSlots];
  Slot* unread;  ///< submitted, but for its readback
  uint32_t size, tile, reloads;
  struct timespec watched;
} Engine;

/// Goes on where a call has failed before: `TRY(kiln_list_close(list, error));`
#define TRY(call)                          \
  do {                                     \
    const kiln_result try_result = (call); \
    if (try_result) return try_result;     \
  } while (0)

// engine.c. A kiln_error that comes out belongs to the caller.
const char* pass_name(Pass pass);
kiln_result engine_start(Engine* engine, kiln_error* error);
kiln_result engine_frame(Engine* engine, uint64_t number, kiln_error* error);
kiln_result engine_finish(Engine* engine, kiln_error* error);
void engine_stop(Engine* engine);
/// Until all that was submitted is done, at most options->timeout: before memory goes that it uses.
void engine_wait(const Engine* engine);
/// The closed lists run in this order, behind those submitted before.
kiln_result submit(const Lane* lane, const kiln_list* lists, uint32_t count, kiln_error* error);
/// `what` is told where it is not done in time.
kiln_result wait_in_time(const Engine* engine, kiln_event event, const char* what, kiln_error* error);

// choice.c
kiln_result list_devices(const char* request, kiln_error* error);
kiln_result choose_device(Engine* engine, kiln_error* error);

// frames.c
kiln_result frames_create(Engine* engine, uint32_t size, kiln_error* error);
void frames_destroy(Engine* engine);

// graph.c
kiln_result record(const Engine* engine, Task task, const Slot* slot, const Kernels* kernels,
                   kiln_error* error);
uint32_t tile_that_fits(const Engine* engine, uint32_t asked);

// recorders.c: threads that do one piece of work at a time, all of them, and then wait for the next.
typedef kiln_result (*Work)(void* user, uint32_t thread, kiln_error* error);
Recorders* recorders_create(uint32_t threads);
kiln_result recorders_run(Recorders* recorders, Work work, void* user, kiln_error* error);
void recorders_destroy(Recorders* recorders);

// reference.c
void write_image(uint8_t* image, uint32_t size, uint64_t frame);
void write_weights(float* weights, uint32_t size);
/// Empty when all is as it should be.
void compare(const uint32_t* results, uint32_t size, uint64_t frame, char* wrong, size_t room);
