// SPDX-License-Identifier: MIT
// Starts the engine, keeps frames in flight, and takes a new kernel between two of them.
#define _POSIX_C_SOURCE 200809L
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char* pass_name(Pass pass) {
  static const char* const names[] = {"upload",   "histogram", "scan",    "multiply",
                                      "convolve", "reduce",    "readback"};
  return names[pass];
}

/// `number` tells lanes of a kind apart. Copies have engines of their own on most devices: a group of queues
/// that cannot compute.
static kiln_result create_lane(Engine* engine, Lane* lane, bool copies, uint32_t number, kiln_error* error) {
  uint32_t count = 0, queues = 1;
  bool found = false;
  TRY(kiln_device_queue_group_count(engine->device, &count, error));
  for (uint32_t i = count; i-- > 0;) {
    kiln_queue_group group = KILN_INIT(kiln_queue_group);
    TRY(kiln_device_get_queue_group(engine->device, i, &group, error));
    const bool computes = group.flags & KILN_QUEUE_GROUP_COMPUTE;
    if (computes ? copies && found : !copies || !(group.flags & KILN_QUEUE_GROUP_COPY)) continue;
    found = !computes;
    lane->group = i;
    queues = group.queues;
  }
  if (!engine->append) {
    kiln_queue_options options = KILN_INIT(kiln_queue_options);
    options.flags = KILN_QUEUE_QUEUE_GROUP;
    options.queue_group = lane->group;
    options.queue_index = number % queues;
    return kiln_queue_create_with(engine->device, &options, &lane->queue, error);
  }
  kiln_list_options options = KILN_INIT(kiln_list_options);
  options.flags = KILN_LIST_IMMEDIATE | KILN_LIST_IN_ORDER | KILN_LIST_COPY_OFFLOAD | KILN_LIST_QUEUE_GROUP;
  options.queue_group = lane->group;
  options.queue_index = number % queues;
  return kiln_list_create_with(engine->device, &options, &lane->immediate, error);
}

kiln_result submit(const Lane* lane, const kiln_list* lists, uint32_t count, kiln_error* error) {
  return lane->immediate ? kiln_list_append(lane->immediate, lists, count, NULL, error)
                         : kiln_queue_execute(lane->queue, lists, count, error);
}

kiln_result wait_in_time(const Engine* engine, kiln_event event, const char* what, kiln_error* error) {
  const uint32_t seconds = engine->options->timeout;
  const kiln_result done = kiln_event_wait(event, seconds * UINT64_C(1000000000), error);
  if (done == KILN_NOT_READY) fprintf(stderr, "engine: %s is not done after %u s\n", what, seconds);
  return done;
}

/// A kernel of its own for each thread.
static kiln_result make_kernels(void* user, uint32_t thread, kiln_error* error) {
  Engine* const engine = user;
  Kernels* const kernels = &engine->kernels[thread];
  TRY(kiln_kernel_create(engine->passes, "multiply", &kernels->multiply, error));
  TRY(kiln_kernel_create(engine->passes, "histogram", &kernels->histogram, error));
  TRY(kiln_kernel_create(engine->passes, "scan", &kernels->scan, error));
  TRY(kiln_kernel_create(engine->passes, "reduce", &kernels->reduce, error));
  return kiln_kernel_create(engine->convolve, "convolve", &kernels->convolve, error);
}

static kiln_result load(Engine* engine, const char* family, kiln_bundle* bundle, kiln_error* error) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", engine->options->kernels, family);
  return kiln_bundle_load(engine->device, path, NULL, engine->cache, bundle, error);
}

static kiln_result has(const Engine* engine, uint32_t feature, bool* is, kiln_error* error) {
  uint32_t answer = 0;
  TRY(kiln_device_has(engine->device, feature, &answer, error));
  *is = answer;
  return KILN_SUCCESS;
}

/// Images of half the edge as long as memory does not suffice. A device that is lost may call that so, too.
static kiln_result create_what_fits(Engine* engine, kiln_error* error) {
  for (uint32_t size = engine->options->size;; size /= 2) {
    const kiln_result result = frames_create(engine, size, error);
    const bool lack = result == KILN_ERROR_OUT_OF_DEVICE_MEMORY || result == KILN_ERROR_OUT_OF_HOST_MEMORY ||
                      result == KILN_ERROR_UNSUPPORTED_SIZE;
    if (!lack || size == 1 || kiln_device_status(engine->device, NULL) == KILN_ERROR_DEVICE_LOST)
      return result;
    frames_destroy(engine);
    fprintf(stderr, "engine: images of %u x %u do not fit, so half the edge: %s\n", size, size,
            kiln_error_text(*error));
    kiln_error_destroy(*error);
    *error = NULL;
  }
}

kiln_result engine_start(Engine* engine, kiln_error* error) {
  const Options* const options = engine->options;
  TRY(choose_device(engine, error));
  if (strcmp(options->submission, "barriers") != 0) {
    TRY(has(engine, KILN_FEATURE_IN_ORDER_LISTS, &engine->in_order, error));
    if (engine->in_order) TRY(has(engine, KILN_FEATURE_APPEND_LISTS, &engine->append, error));
    if (!engine->in_order && strcmp(options->submission, "in-order") == 0) {
      fprintf(stderr, "engine: this driver has no lists in order\n");
      return KILN_ERROR_UNSUPPORTED_FEATURE;
    }
  }
  TRY(create_lane(engine, &engine->main, false, 0, error));
  TRY(create_lane(engine, &engine->analysis, false, 1, error));
  TRY(create_lane(engine, &engine->copy, true, 0, error));
  TRY(load(engine, "passes", &engine->passes, error));
  TRY(load(engine, "convolve", &engine->convolve, error));
  TRY(recorders_run(engine->recorders, make_kernels, engine, error));
  engine->tile = tile_that_fits(engine, options->tile);
  return create_what_fits(engine, error);
}

/// Waits for the frame in a slot and tells what it was.
static kiln_result take(Engine* engine, Slot* slot, kiln_error* error) {
  if (!slot->in_flight) return KILN_SUCCESS;
  char what[32];
  snprintf(what, sizeof what, "frame %llu", (unsigned long long)slot->frame);
  TRY(wait_in_time(engine, slot->read, what, error));
  const kiln_event events[] = {slot->uploaded, slot->scanned, slot->finished, slot->read};
  for (int i = 0; i < 4; ++i) TRY(kiln_event_reset(events[i], error));
  slot->in_flight = false;

  const uint32_t* const results = kiln_buffer_data(slot->results);
  const uint64_t* const ticks = kiln_buffer_data(slot->ticks);
  const size_t pixels = (size_t)engine->size * engine->size;
  Outcome outcome = {.frame = slot->frame, .size = engine->size, .total = results[pixels + kBins]};
  if (engine->options->check)
    compare(results, engine->size, slot->frame, outcome.wrong, sizeof outcome.wrong);
  for (int pass = 0; pass < kPasses; ++pass)
    outcome.microseconds[pass] = (double)((ticks[2 * pass + 1] - ticks[2 * pass]) & engine->ticks_mask) *
                                 1e6 / (double)engine->ticks_per_second;
  engine->sink(engine->user, &outcome);
  return KILN_SUCCESS;
}

static kiln_result submit_readback(Engine* engine, kiln_error* error) {
  if (!engine->unread) return KILN_SUCCESS;
  TRY(submit(&engine->copy, &engine->unread->lists[kReadbackTask], 1, error));
  engine->unread = NULL;
  return KILN_SUCCESS;
}

kiln_result engine_finish(Engine* engine, kiln_error* error) {
  Slot *first = &engine->slots[0], *second = &engine->slots[1];
  TRY(submit_readback(engine, error));
  const bool turned = second->in_flight && (!first->in_flight || second->frame < first->frame);
  TRY(take(engine, turned ? second : first, error));
  return take(engine, turned ? first : second, error);
}

/// What is compiled, and a kernel of it for each thread.
typedef struct Reload {
  kiln_bundle bundle;
  kiln_kernel kernels[kMostThreads];
} Reload;

static kiln_result make_convolve(void* user, uint32_t thread, kiln_error* error) {
  Reload* const reload = user;
  return kiln_kernel_create(reload->bundle, "convolve", &reload->kernels[thread], error);
}

static void destroy_reload(Reload* reload) {
  for (int i = 0; i < kMostThreads; ++i) kiln_kernel_destroy(reload->kernels[i]);
  kiln_bundle_destroy(reload->bundle);
}

static bool has_changed(Engine* engine) {
  struct stat now;
  if (!engine->options->watch || stat(engine->options->watch, &now)) return false;
  if (now.st_mtim.tv_sec == engine->watched.tv_sec && now.st_mtim.tv_nsec == engine->watched.tv_nsec)
    return false;
  engine->watched = now.st_mtim;
  return true;
}

/// Compiles `convolve` again. What is wrong with it is told, and the old one stays.
static kiln_result reload_convolve(Engine* engine, kiln_error* error) {
  Reload reload = {0};
  kiln_source source = KILN_INIT(kiln_source);
  source.name = engine->options->watch;
  kiln_result result =
      kiln_bundle_compile(engine->device, &source, NULL, engine->cache, &reload.bundle, error);
  if (!result) result = recorders_run(engine->recorders, make_convolve, &reload, error);
  if (result && kiln_device_status(engine->device, NULL) != KILN_ERROR_DEVICE_LOST) {
    fprintf(stderr, "engine: the kernel stays as it is: %s\n", kiln_error_text(*error));
    kiln_error_destroy(*error);
    *error = NULL;
    destroy_reload(&reload);
    return KILN_SUCCESS;
  }
  // The device may be at work on the old one.
  if (!result) result = engine_finish(engine, error);
  if (!result) {
    for (int i = 0; i < kMostThreads; ++i) {
      const kiln_kernel old = engine->kernels[i].convolve;
      engine->kernels[i].convolve = reload.kernels[i];
      reload.kernels[i] = old;
    }
    const kiln_bundle old = engine->convolve;
    engine->convolve = reload.bundle;
    reload.bundle = old;
    ++engine->reloads;
    fprintf(stderr, "engine: the kernel is that of %s now\n", engine->options->watch);
  }
  destroy_reload(&reload);
  return result;
}

/// A frame that is recorded.
typedef struct Recorded {
  const Engine* engine;
  const Slot* slot;
} Recorded;

static kiln_result record_share(void* user, uint32_t thread, kiln_error* error) {
  const Recorded* const frame = user;
  const Engine* const engine = frame->engine;
  for (uint32_t task = thread; task < kTasks; task += engine->options->threads)
    TRY(record(engine, (Task)task, frame->slot, &engine->kernels[thread], error));
  return KILN_SUCCESS;
}

kiln_result engine_frame(Engine* engine, uint64_t number, kiln_error* error) {
  if (has_changed(engine)) TRY(reload_convolve(engine, error));
  Slot* const slot = &engine->slots[number % kSlots];
  TRY(take(engine, slot, error));
  slot->frame = number;
  write_image(kiln_buffer_data(slot->staging), engine->size, number);
  Recorded frame = {engine, slot};
  TRY(recorders_run(engine->recorders, record_share, &frame, error));

  // Whatever a list waits for was submitted before it, so that one queue for all lanes would do.
  TRY(submit(&engine->copy, &slot->lists[kUploadTask], 1, error));
  TRY(submit_readback(engine, error));
  TRY(submit(&engine->analysis, &slot->lists[kAnalysisTask], 1, error));
  slot->in_flight = true;
  engine->unread = slot;
  return submit(&engine->main, &slot->lists[kFirstBandTask], kBands + 1, error);
}

// The lanes know what reached the device, also where a frame was submitted in part. A lost device answers at
// once.
void engine_wait(const Engine* engine) {
  uint64_t timeout = engine->options->timeout * UINT64_C(1000000000);
  const Lane* const lanes[] = {&engine->copy, &engine->analysis, &engine->main};
  for (int i = 0; i < 3; ++i) {
    kiln_result done = KILN_SUCCESS;
    if (lanes[i]->immediate) done = kiln_list_synchronize(lanes[i]->immediate, timeout, NULL);
    if (lanes[i]->queue) done = kiln_queue_synchronize(lanes[i]->queue, timeout, NULL);
    if (done == KILN_NOT_READY) timeout = 0;  // it is over
  }
}

void engine_stop(Engine* engine) {
  frames_destroy(engine);
  for (int i = 0; i < kMostThreads; ++i) {
    const Kernels* const kernels = &engine->kernels[i];
    const kiln_kernel all[] = {kernels->multiply, kernels->histogram, kernels->scan, kernels->reduce,
                               kernels->convolve};
    for (int j = 0; j < 5; ++j) kiln_kernel_destroy(all[j]);
  }
  kiln_bundle_destroy(engine->passes);
  kiln_bundle_destroy(engine->convolve);
  const Lane lanes[] = {engine->main, engine->analysis, engine->copy};
  for (int i = 0; i < 3; ++i) {
    kiln_list_destroy(lanes[i].immediate);
    kiln_queue_destroy(lanes[i].queue);
  }
  kiln_device_destroy(engine->device);
}
