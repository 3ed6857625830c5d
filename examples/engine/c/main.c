// SPDX-License-Identifier: MIT
// Runs frames of the engine, through losses of the device, and tells of them line by line or as JSON.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

static const char kHelp[] =
    "usage: example_engine_c [OPTION VALUE]...\n\n"
    "Computes frames: upload, histogram, prefix sum, matrix product, convolution, sum, readback.\n\n"
    "  --device WHICH     gpu, cpu, cpu:PRODUCT, capture:PRODUCT or driver:LIBRARY; default: KILN_DEVICE, "
    "else gpu\n"
    "  --pick WHICH       among that driver's devices: uuid:HEX, pci:DOMAIN:BUS:DEVICE.FUNCTION, name:PART,\n"
    "                     type:discrete, type:integrated or type:cpu; default: the best\n"
    "  --frames COUNT     1 to 1000000 (8)\n"
    "  --size EDGE        of the images, 1 to 1024 (256); halved where memory does not suffice\n"
    "  --tile EDGE        of the tiles of the matrix product, 1 to 1024 (16); lowered to what fits the "
    "device\n"
    "  --threads COUNT    that record, 1 to 64 (8)\n"
    "  --submission HOW   auto, in-order or barriers (auto)\n"
    "  --kernels FOLDER   with passes.* and convolve.* (KILN_KERNEL_PATH, else `kernels`)\n"
    "  --watch FILE       OpenCL C of the kernel `convolve`: compiled now, and again when it changes between "
    "frames\n"
    "  --timeout SECONDS  for a frame, 1 to 3600 (60)\n"
    "  --step             each frame waits for a line on standard input\n"
    "  --check            compares each frame with the host's; exit status 1 when one is wrong\n"
    "  --json             prints JSON\n"
    "  --list-devices     what there is, and ends\n"
    "  --help             this text\n\n"
    "Exit status: 0 right, 1 wrong results or an error on the way, 2 usage, 4 no device.\n";

typedef struct Report {
  const Options* options;
  Outcome* outcomes;
  uint64_t frames;  ///< told so far, each once and in order
  uint32_t losses, reloads;
  bool right;
} Report;

static void tell(void* user, const Outcome* outcome) {
  Report* const report = user;
  report->outcomes[outcome->frame] = *outcome;
  report->frames = outcome->frame + 1;
  const unsigned long long frame = outcome->frame;
  if (*outcome->wrong) {
    report->right = false;
    fprintf(stderr, "engine: frame %llu is wrong: %s\n", frame, outcome->wrong);
  }
  if (report->options->json) return;
  printf("frame %llu: total %u%s, microseconds:", frame, outcome->total,
         !report->options->check ? ""
         : *outcome->wrong       ? ", wrong"
                                 : ", right");
  for (int pass = 0; pass < kPasses; ++pass)
    printf(" %s %.1f", pass_name((Pass)pass), outcome->microseconds[pass]);
  printf("\n");
  fflush(stdout);
}

static void print_quoted(const char* text) {
  putchar('"');
  for (; *text; ++text) {
    const unsigned char c = (unsigned char)*text;
    if (c < 0x20) {
      printf("\\u%04x", c);
    } else {
      if (c == '"' || c == '\\') putchar('\\');
      putchar(c);
    }
  }
  putchar('"');
}

static void print_json(const Report* report, const Engine* engine, const char* error) {
  printf("{\n  \"frames\": [\n");
  for (uint64_t i = 0; i < report->frames; ++i) {
    const Outcome* const outcome = &report->outcomes[i];
    printf("    {\"frame\": %llu, \"size\": %u, \"total\": %u, \"wrong\": ",
           (unsigned long long)outcome->frame, outcome->size, outcome->total);
    print_quoted(outcome->wrong);
    printf(", \"microseconds\": {");
    for (int pass = 0; pass < kPasses; ++pass)
      printf("%s\"%s\": %.1f", pass ? ", " : "", pass_name((Pass)pass), outcome->microseconds[pass]);
    printf("}}%s\n", i + 1 < report->frames ? "," : "");
  }
  printf("  ],\n  \"device\": ");
  print_quoted(engine->name);
  printf(", \"in_order\": %s, \"append\": %s, \"tile\": %u,\n", engine->in_order ? "true" : "false",
         engine->append ? "true" : "false", engine->tile);
  printf("  \"threads\": %u, \"losses\": %u, \"reloads\": %u, \"checked\": %s, \"error\": ",
         report->options->threads, report->losses, report->reloads,
         report->options->check ? "true" : "false");
  print_quoted(error);
  printf("\n}\n");
}

/// The frames that are left, on one opening of the device.
static kiln_result run(Engine* engine, const Report* report, kiln_error* error) {
  for (uint64_t number = report->frames; number < report->options->frames; ++number) {
    if (report->options->step) {
      // All that was submitted is told first, so that who steps sees each frame.
      TRY(engine_finish(engine, error));
      for (int c = 0; c != '\n' && c != EOF;) c = getchar();
    }
    TRY(engine_frame(engine, number, error));
  }
  return engine_finish(engine, error);
}

/// As Kiln tells it, also where the driver calls it lack of memory.
static bool is_lost(kiln_result result, kiln_error error) {
  return result == KILN_ERROR_DEVICE_LOST || strcmp(kiln_error_code(error), "K0220") == 0;
}

static void log_line(void* user, uint32_t level, const char* message, size_t size) {
  (void)user, (void)size;
  if (level != KILN_LOG_DEBUG) fprintf(stderr, "engine: %s\n", message);
}

/// Opens the device as often as it is lost, as long as frames come out in between. Gives the exit status.
static int run_through_losses(Report* report, kiln_cache cache, Recorders* recorders) {
  for (;;) {
    Engine* const engine = calloc(1, sizeof *engine);
    if (!engine) return 1;
    engine->options = report->options;
    engine->cache = cache;
    engine->recorders = recorders;
    engine->sink = tell;
    engine->user = report;
    const uint64_t before = report->frames;
    kiln_error error = NULL;
    kiln_result result = engine_start(engine, &error);
    const bool started = !result;
    if (started) result = run(engine, report, &error);
    report->reloads += engine->reloads;
    const bool again = result && is_lost(result, error) && (report->losses == 0 || report->frames > before);
    const char* const why = *kiln_error_text(error) ? kiln_error_text(error) : kiln_result_name(result);
    if (again)
      fprintf(stderr, "engine: the device is lost; it is opened again: %s\n", why);
    else if (result)
      fprintf(stderr, "engine: %s\n", why);
    const bool no_such = strcmp(kiln_error_code(error), "K0307") == 0;  // it names no device
    if (!again && !no_such && report->options->json) print_json(report, engine, result ? why : "");
    const bool no_device = result && !started && report->losses == 0;
    // What was made on the old device goes before a new one is opened.
    engine_stop(engine);
    free(engine);
    kiln_error_destroy(error);
    if (!again) return no_such ? 2 : no_device ? 4 : result || !report->right ? 1 : 0;
    ++report->losses;
  }
}

static bool number(const char* text, uint32_t most, uint32_t* value) {
  char* end = NULL;
  const unsigned long read = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
  if (!end || *end || read < 1 || read > most) return false;
  *value = (uint32_t)read;
  return true;
}

static bool one_of_submissions(const char* how) {
  return strcmp(how, "auto") == 0 || strcmp(how, "in-order") == 0 || strcmp(how, "barriers") == 0;
}

/// False for what cannot be meant, which was told.
static bool parse(int count, char** words, Options* options) {
  for (int i = 1; i < count; ++i) {
    const char* const name = words[i];
    const char* const value = i + 1 < count ? words[i + 1] : NULL;
    if (strcmp(name, "--check") == 0)
      options->check = true;
    else if (strcmp(name, "--json") == 0)
      options->json = true;
    else if (strcmp(name, "--step") == 0)
      options->step = true;
    else if (strcmp(name, "--list-devices") == 0)
      options->list_devices = true;
    else {
      bool good = value != NULL;
      if (strcmp(name, "--device") == 0)
        options->device = value;
      else if (strcmp(name, "--kernels") == 0)
        options->kernels = value;
      else if (strcmp(name, "--watch") == 0)
        options->watch = value;
      else if (strcmp(name, "--pick") == 0)
        options->pick = value;
      else if (strcmp(name, "--submission") == 0)
        good = value && one_of_submissions(options->submission = value);
      else if (strcmp(name, "--frames") == 0)
        good = number(value, 1000000, &options->frames);
      else if (strcmp(name, "--size") == 0)
        good = number(value, 1024, &options->size);
      else if (strcmp(name, "--tile") == 0)
        good = number(value, 1024, &options->tile);
      else if (strcmp(name, "--threads") == 0)
        good = number(value, kMostThreads, &options->threads);
      else if (strcmp(name, "--timeout") == 0)
        good = number(value, 3600, &options->timeout);
      else {
        fprintf(stderr, "example_engine_c: unknown option '%s'; --help lists all\n", name);
        return false;
      }
      if (!value)
        fprintf(stderr, "example_engine_c: %s needs a value\n", name);
      else if (!good)
        fprintf(stderr, "example_engine_c: %s does not take '%s'; --help says what it takes\n", name, value);
      if (!good) return false;
      ++i;
    }
  }
  return true;
}

int main(int count, char** words) {
  Options options = {.frames = 8, .size = 256, .tile = 16, .threads = 8, .timeout = 60, .submission = "auto"};
  for (int i = 1; i < count; ++i)
    if (strcmp(words[i], "--help") == 0) return fputs(kHelp, stdout) == EOF;
  if (!parse(count, words, &options)) return 2;
  if (!options.kernels) options.kernels = getenv("KILN_KERNEL_PATH");
  if (!options.kernels) options.kernels = "kernels";

  kiln_error error = NULL;
  kiln_cache cache = NULL;
  if (options.list_devices) {
    const kiln_result listed = list_devices(options.device, &error);
    if (listed) fprintf(stderr, "engine: %s", kiln_error_text(error));
    const bool no_such = strcmp(kiln_error_code(error), "K0307") == 0;  // it names no device
    kiln_error_destroy(error);
    return no_such ? 2 : listed ? 4 : 0;
  }
  Recorders* const recorders = recorders_create(options.threads);
  Outcome* const outcomes = calloc(options.frames, sizeof *outcomes);
  Report report = {.options = &options, .outcomes = outcomes, .right = true};
  int status = 2;
  if (!recorders || !outcomes) {
    fprintf(stderr, "engine: the host has no memory, or no room for %u threads\n", options.threads);
    status = 1;
  } else if (kiln_set_log_sink(log_line, NULL, &error) || kiln_cache_open(NULL, &cache, &error)) {
    fprintf(stderr, "engine: %s", kiln_error_text(error));
  } else {
    status = run_through_losses(&report, cache, recorders);
  }
  kiln_error_destroy(error);
  kiln_cache_destroy(cache);
  recorders_destroy(recorders);
  free(outcomes);
  return status;
}
