// SPDX-License-Identifier: MIT
// Records the passes of a frame.
#include <stdio.h>

#include "engine.h"

/// A list that is being recorded: each command sees what those before it have written.
typedef struct Recording {
  kiln_list list;
  bool in_order;
  kiln_error* error;
} Recording;

static kiln_result ordered(const Recording* to) {
  return to->in_order ? KILN_SUCCESS : kiln_list_barrier(to->list, NULL, to->error);
}

/// The device writes its clock to the start (0) or end (1) of a pass.
static kiln_result clock_of(const Recording* to, const Slot* slot, Pass pass, int end, kiln_event signal,
                            kiln_event wait) {
  kiln_sync sync = KILN_INIT(kiln_sync);
  sync.signal = signal;
  sync.wait = &wait;
  sync.wait_count = wait ? 1 : 0;
  uint64_t* const ticks = kiln_buffer_data(slot->ticks);
  TRY(kiln_list_write_timestamp(to->list, ticks + 2 * pass + end, &sync, to->error));
  return ordered(to);
}

static kiln_result copy(const Recording* to, void* target, kiln_buffer source) {
  TRY(kiln_list_copy(to->list, target, kiln_buffer_data(source), kiln_buffer_size(source), NULL, to->error));
  return ordered(to);
}

static kiln_result launch(const Recording* to, kiln_kernel kernel, kiln_extent groups, kiln_extent group_size,
                          const kiln_argument* arguments, uint32_t count) {
  kiln_launch_info info = KILN_INIT(kiln_launch_info);
  info.groups = groups;
  info.group_size = group_size;
  info.arguments = arguments;
  info.argument_count = count;
  TRY(kiln_launch(to->list, kernel, &info, to->error));
  return ordered(to);
}
/// With the arguments as a list.
#define LAUNCH(to, kernel, groups, group_size, ...)                            \
  launch(to, kernel, groups, group_size, (const kiln_argument[]){__VA_ARGS__}, \
         sizeof((const kiln_argument[]){__VA_ARGS__}) / sizeof(kiln_argument))
#define BUFFER(buffer) kiln_buffer_argument(&(buffer))
#define VALUE(value) kiln_value(&(value), sizeof(value))

static const kiln_extent kSquare = {16, 16, 1};
static const kiln_extent kLine = {256, 1, 1};
enum { kEdge = 16, kLineBytes = 256 * 4 };

static uint32_t groups_for(uint32_t items, uint32_t each) { return (items + each - 1) / each; }

static kiln_result upload(const Recording* to, const Slot* slot) {
  TRY(clock_of(to, slot, kUpload, 0, NULL, NULL));
  TRY(copy(to, kiln_buffer_data(slot->image), slot->staging));
  return clock_of(to, slot, kUpload, 1, slot->uploaded, NULL);
}

static kiln_result analyse(const Recording* to, const Engine* engine, const Slot* slot,
                           const Kernels* kernels) {
  const uint32_t pixels = engine->size * engine->size, block = kBlock, bins = kBins, zero = 0;
  const kiln_extent blocks = {groups_for(pixels, kBlock), 1, 1}, one = {1, 1, 1};
  TRY(clock_of(to, slot, kHistogram, 0, NULL, slot->uploaded));
  TRY(kiln_list_fill(to->list, kiln_buffer_data(engine->bins), &zero, sizeof zero,
                     kiln_buffer_size(engine->bins), NULL, to->error));
  TRY(ordered(to));
  TRY(LAUNCH(to, kernels->histogram, blocks, kLine, BUFFER(slot->image), BUFFER(engine->bins), VALUE(pixels),
             VALUE(block)));
  TRY(clock_of(to, slot, kHistogram, 1, NULL, NULL));
  TRY(clock_of(to, slot, kScan, 0, NULL, NULL));
  TRY(LAUNCH(to, kernels->scan, one, kLine, BUFFER(engine->bins), BUFFER(slot->cumulative), VALUE(bins),
             kiln_local_argument(kLineBytes)));
  return clock_of(to, slot, kScan, 1, slot->scanned, NULL);
}

/// Rows of tiles, shared out evenly: a small image leaves some bands without any.
static kiln_result multiply(const Recording* to, uint32_t band, const Engine* engine, const Slot* slot,
                            const Kernels* kernels) {
  const uint32_t size = engine->size, tile = engine->tile, tiles = groups_for(size, tile);
  const uint32_t first = tiles * band / kBands, end = tiles * (band + 1) / kBands, row = first * tile;
  const kiln_extent groups = {tiles, end - first, 1};
  const kiln_argument bytes = kiln_local_argument((uint64_t)tile * tile * sizeof(float));
  if (band == 0) TRY(clock_of(to, slot, kMultiply, 0, NULL, slot->uploaded));
  if (first != end)
    TRY(LAUNCH(to, kernels->multiply, groups, kSquare, BUFFER(slot->image), BUFFER(engine->weights),
               BUFFER(engine->product), VALUE(size), VALUE(row), VALUE(tile), bytes, bytes));
  return band == kBands - 1 ? clock_of(to, slot, kMultiply, 1, NULL, NULL) : KILN_SUCCESS;
}

static kiln_result finish(const Recording* to, const Engine* engine, const Slot* slot,
                          const Kernels* kernels) {
  const uint32_t size = engine->size, pixels = size * size, block = kBlock, radius = kRadius;
  const uint32_t side = groups_for(size, kEdge), blocks = groups_for(pixels, kBlock);
  const kiln_extent square = {side, side, 1}, line = {blocks, 1, 1}, one = {1, 1, 1};
  const kiln_argument halo =
      kiln_local_argument((kEdge + 2 * kRadius) * (kEdge + 2 * kRadius) * sizeof(float));
  const kiln_argument words = kiln_local_argument(kLineBytes);
  TRY(clock_of(to, slot, kConvolve, 0, NULL, slot->scanned));
  TRY(LAUNCH(to, kernels->convolve, square, kSquare, BUFFER(engine->product), BUFFER(slot->image),
             BUFFER(slot->cumulative), BUFFER(engine->taps), BUFFER(slot->filtered), VALUE(size),
             VALUE(radius), halo));
  TRY(clock_of(to, slot, kConvolve, 1, NULL, NULL));
  TRY(clock_of(to, slot, kReduce, 0, NULL, NULL));
  TRY(LAUNCH(to, kernels->reduce, line, kLine, BUFFER(slot->filtered), BUFFER(engine->partials),
             VALUE(pixels), VALUE(block), words));
  TRY(LAUNCH(to, kernels->reduce, one, kLine, BUFFER(engine->partials), BUFFER(slot->total), VALUE(blocks),
             VALUE(blocks), words));
  return clock_of(to, slot, kReduce, 1, slot->finished, NULL);
}

static kiln_result read_back(const Recording* to, const Slot* slot) {
  char* const results = kiln_buffer_data(slot->results);
  const size_t words = kiln_buffer_size(slot->filtered), bins = kiln_buffer_size(slot->cumulative);
  TRY(clock_of(to, slot, kReadback, 0, NULL, slot->finished));
  TRY(copy(to, results, slot->filtered));
  TRY(copy(to, results + words, slot->cumulative));
  TRY(copy(to, results + words + bins, slot->total));
  return clock_of(to, slot, kReadback, 1, slot->read, NULL);
}

kiln_result record(const Engine* engine, Task task, const Slot* slot, const Kernels* kernels,
                   kiln_error* error) {
  const Recording to = {slot->lists[task], engine->in_order, error};
  TRY(kiln_list_reset(to.list, error));
  switch (task) {
    case kUploadTask:
      TRY(upload(&to, slot));
      break;
    case kAnalysisTask:
      TRY(analyse(&to, engine, slot, kernels));
      break;
    case kFinishTask:
      TRY(finish(&to, engine, slot, kernels));
      break;
    case kReadbackTask:
      TRY(read_back(&to, slot));
      break;
    default:
      TRY(multiply(&to, (uint32_t)(task - kFirstBandTask), engine, slot, kernels));
  }
  return kiln_list_close(to.list, error);
}

uint32_t tile_that_fits(const Engine* engine, uint32_t asked) {
  void* const any = NULL;
  const uint32_t zero = 0;
  const kiln_argument bytes = kiln_local_argument((uint64_t)asked * asked * sizeof(float));
  const kiln_argument memory = kiln_pointer_argument(&any);
  const kiln_argument arguments[] = {memory,      memory,       memory, VALUE(zero),
                                     VALUE(zero), VALUE(asked), bytes,  bytes};
  kiln_launch_info info = KILN_INIT(kiln_launch_info);
  info.groups.x = 1;
  info.group_size = kSquare;
  info.arguments = arguments;
  info.argument_count = sizeof arguments / sizeof *arguments;
  kiln_room room = KILN_INIT(kiln_room);
  if (kiln_kernel_what_fits(engine->kernels[0].multiply, &info, &room, NULL) || room.tile_edge == 0)
    return asked;
  fprintf(stderr, "engine: two tiles of edge %u do not fit, so those of %u\n", asked,
          (uint32_t)room.tile_edge);
  return (uint32_t)room.tile_edge;
}
