// SPDX-License-Identifier: MIT
// Allocates what frames need.
#include <string.h>

#include "engine.h"

/// Memory and what is to hold it.
typedef struct Wanted {
  kiln_buffer* buffer;
  uint32_t kind;
  size_t bytes;
} Wanted;

static kiln_result allocate(const Engine* engine, const Wanted* wanted, size_t count, kiln_error* error) {
  for (size_t i = 0; i < count; ++i)
    TRY(kiln_buffer_allocate(engine->device, wanted[i].kind, wanted[i].bytes, NULL, wanted[i].buffer, error));
  return KILN_SUCCESS;
}

static kiln_result create_slot(Engine* engine, Slot* slot, uint32_t first_event, size_t pixels,
                               kiln_error* error) {
  const Wanted memory[] = {{&slot->staging, KILN_MEMORY_HOST, pixels},
                           {&slot->results, KILN_MEMORY_HOST, (pixels + kBins + 1) * 4},
                           {&slot->ticks, KILN_MEMORY_HOST, kPasses * 2 * sizeof(uint64_t)},
                           {&slot->image, KILN_MEMORY_DEVICE, pixels},
                           {&slot->cumulative, KILN_MEMORY_DEVICE, kBins * 4},
                           {&slot->filtered, KILN_MEMORY_DEVICE, pixels * 4},
                           {&slot->total, KILN_MEMORY_DEVICE, 4}};
  TRY(allocate(engine, memory, sizeof memory / sizeof *memory, error));
  // Other queues of the device see what was written behind these; the host alone what is behind the last.
  kiln_event_options scopes = KILN_INIT(kiln_event_options);
  scopes.signal_scope = scopes.wait_scope = KILN_SCOPE_DEVICE;
  kiln_event* const of_device[] = {&slot->uploaded, &slot->scanned, &slot->finished};
  for (uint32_t i = 0; i < 3; ++i)
    TRY(kiln_event_create_with(engine->events, first_event + i, &scopes, of_device[i], error));
  TRY(kiln_event_create(engine->events, first_event + 3, &slot->read, error));
  for (int task = 0; task < kTasks; ++task) {
    const bool copies = task == kUploadTask || task == kReadbackTask;
    kiln_list_options options = KILN_INIT(kiln_list_options);
    options.flags = KILN_LIST_QUEUE_GROUP | (engine->in_order ? KILN_LIST_IN_ORDER : 0u) |
                    (copies ? KILN_LIST_COPY_OFFLOAD : 0u);
    options.queue_group = copies                  ? engine->copy.group
                          : task == kAnalysisTask ? engine->analysis.group
                                                  : engine->main.group;
    TRY(kiln_list_create_with(engine->device, &options, &slot->lists[task], error));
  }
  return KILN_SUCCESS;
}

/// What stays the same for all frames is uploaded once, as frames are, and waited for: the weights, then the
/// taps.
static kiln_result upload_constants(Engine* engine, uint32_t size, kiln_error* error) {
  static const float taps[kTaps] = {1, 2, 1};
  const Slot* const slot = &engine->slots[0];  // no frame is in it yet
  const kiln_list list = slot->lists[kUploadTask];
  const size_t bytes = kiln_buffer_size(engine->weights);
  TRY(kiln_buffer_allocate(engine->device, KILN_MEMORY_HOST, bytes + sizeof taps, NULL, &engine->constants,
                           error));
  char* const from = kiln_buffer_data(engine->constants);
  write_weights((float*)(void*)from, size);
  memcpy(from + bytes, taps, sizeof taps);
  kiln_sync last = KILN_INIT(kiln_sync);
  last.signal = slot->read;
  TRY(kiln_list_reset(list, error));
  TRY(kiln_list_copy(list, kiln_buffer_data(engine->weights), from, bytes, NULL, error));
  if (!engine->in_order) TRY(kiln_list_barrier(list, NULL, error));
  TRY(kiln_list_copy(list, kiln_buffer_data(engine->taps), from + bytes, kiln_buffer_size(engine->taps),
                     &last, error));
  TRY(kiln_list_close(list, error));
  TRY(submit(&engine->copy, &list, 1, error));
  TRY(wait_in_time(engine, slot->read, "the upload of what stays the same", error));
  return kiln_event_reset(slot->read, error);
}

kiln_result frames_create(Engine* engine, uint32_t size, kiln_error* error) {
  const size_t pixels = (size_t)size * size, blocks = (pixels + kBlock - 1) / kBlock;
  const Wanted memory[] = {{&engine->weights, KILN_MEMORY_DEVICE, pixels * 4},
                           {&engine->taps, KILN_MEMORY_DEVICE, kTaps * 4},
                           {&engine->product, KILN_MEMORY_DEVICE, pixels * 4},
                           {&engine->bins, KILN_MEMORY_DEVICE, kBins * 4},
                           {&engine->partials, KILN_MEMORY_DEVICE, blocks * 4}};
  engine->size = size;
  TRY(allocate(engine, memory, sizeof memory / sizeof *memory, error));
  TRY(kiln_event_pool_create(engine->device, 4 * kSlots, 0, &engine->events, error));
  for (uint32_t i = 0; i < kSlots; ++i) TRY(create_slot(engine, &engine->slots[i], 4 * i, pixels, error));
  return upload_constants(engine, size, error);
}

void frames_destroy(Engine* engine) {
  engine_wait(engine);
  for (int i = 0; i < kSlots; ++i) {
    Slot* const slot = &engine->slots[i];
    for (int task = 0; task < kTasks; ++task) kiln_list_destroy(slot->lists[task]);
    const kiln_event events[] = {slot->uploaded, slot->scanned, slot->finished, slot->read};
    for (int j = 0; j < 4; ++j) kiln_event_destroy(events[j]);
    const kiln_buffer buffers[] = {slot->staging,    slot->results,  slot->ticks, slot->image,
                                   slot->cumulative, slot->filtered, slot->total};
    for (int j = 0; j < 7; ++j) kiln_buffer_destroy(buffers[j]);
    *slot = (Slot){0};
  }
  kiln_event_pool_destroy(engine->events);
  engine->events = NULL;
  kiln_buffer* const buffers[] = {&engine->constants, &engine->weights, &engine->taps,
                                  &engine->product,   &engine->bins,    &engine->partials};
  for (int i = 0; i < 6; ++i) {
    kiln_buffer_destroy(*buffers[i]);
    *buffers[i] = NULL;
  }
}
