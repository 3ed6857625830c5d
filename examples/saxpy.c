// SPDX-License-Identifier: MIT
// The README's example in C11: one kernel, from its files to its answer.
#include <kiln/kiln.h>
#include <stdio.h>

enum { kCount = 1000, kGroup = 256 };

// What of a program of an engine would be long-lived. Null is what is not there.
typedef struct Saxpy {
  kiln_device device;
  kiln_bundle bundle;
  kiln_kernel kernel;
  kiln_buffer x, y;
  kiln_list list;
} Saxpy;

// Any order would be as good: each object keeps what it was made of.
static void end(const Saxpy* saxpy) {
  kiln_list_destroy(saxpy->list);
  kiln_buffer_destroy(saxpy->y);
  kiln_buffer_destroy(saxpy->x);
  kiln_kernel_destroy(saxpy->kernel);
  kiln_bundle_destroy(saxpy->bundle);
  kiln_device_destroy(saxpy->device);
}

static kiln_result begin(Saxpy* saxpy, const char* kernels, kiln_error* error) {
  const uint32_t flags = KILN_LIST_IMMEDIATE | KILN_LIST_SYNCHRONOUS;
  kiln_result result = kiln_device_open(NULL, &saxpy->device, error);  // a GPU, or what KILN_DEVICE asks for
  if (!result) result = kiln_bundle_load(saxpy->device, kernels, NULL, NULL, &saxpy->bundle, error);
  if (!result) result = kiln_kernel_create(saxpy->bundle, "saxpy", &saxpy->kernel, error);
  if (!result)
    result = kiln_buffer_allocate(saxpy->device, KILN_MEMORY_SHARED, kCount * sizeof(float), NULL, &saxpy->x,
                                  error);
  if (!result)
    result = kiln_buffer_allocate(saxpy->device, KILN_MEMORY_SHARED, kCount * sizeof(float), NULL, &saxpy->y,
                                  error);
  if (!result) result = kiln_list_create(saxpy->device, flags, &saxpy->list, error);
  return result;
}

// y = 3 x + y, in groups of `group` work-items.
static kiln_result run(const Saxpy* saxpy, uint32_t group, kiln_error* error) {
  const float a = 3;
  const uint32_t count = kCount;
  float* const x = kiln_buffer_data(saxpy->x);
  float* const y = kiln_buffer_data(saxpy->y);
  for (int i = 0; i < kCount; ++i) x[i] = 2, y[i] = 1;
  const kiln_argument arguments[] = {
      kiln_value(&a, sizeof a),
      kiln_buffer_argument(&saxpy->x),
      kiln_buffer_argument(&saxpy->y),
      kiln_value(&count, sizeof count),
  };
  kiln_launch_info launch = KILN_INIT(kiln_launch_info);
  launch.groups.x = (kCount + group - 1) / group;
  launch.group_size.x = group;
  launch.arguments = arguments;
  launch.argument_count = sizeof arguments / sizeof *arguments;
  return kiln_launch(saxpy->list, saxpy->kernel, &launch, error);
}

int main(int count, char** words) {
  Saxpy saxpy = {0};
  kiln_error error = NULL;
  kiln_result result = begin(&saxpy, count > 1 ? words[1] : "kernels/saxpy", &error);
  if (!result) result = run(&saxpy, kGroup, &error);
  if (result)
    fprintf(stderr, "%s", kiln_error_text(error));
  else
    printf("%g\n", ((const float*)kiln_buffer_data(saxpy.y))[kCount - 1]);
  kiln_error_destroy(error);
  end(&saxpy);
  return result != KILN_SUCCESS;
}
