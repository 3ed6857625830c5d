// SPDX-License-Identifier: MIT
// An OpenCL program that knows nothing of Kiln: what it gets from Intel's driver over `kiln simulate PRODUCT
// -- opencl` is compared with what the host computes. Exit status 77 where there is no platform of Intel's.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kItems = 4096, kGroup = 64, kGroups = kItems / kGroup, kSkipped = 77 };

static const char* const kSource =
    "kernel void saxpy(float a, global const float* x, global float* y) {\n"
    "  size_t i = get_global_id(0);\n"
    "  y[i] = a * x[i] + y[i];\n"
    "}\n"
    "kernel void sums(global const uint* in, global uint* out, local uint* part) {\n"
    "  uint l = get_local_id(0);\n"
    "  part[l] = in[get_global_id(0)];\n"
    "  for (uint step = get_local_size(0) / 2; step != 0; step /= 2) {\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (l < step) part[l] += part[l + step];\n"
    "  }\n"
    "  if (l == 0) out[get_group_id(0)] = part[0];\n"
    "}\n"
    "kernel void turn(global const uint* in, global uint* out) {\n"
    "  local uint tile[16][17];\n"
    "  uint x = get_local_id(0), y = get_local_id(1);\n"
    "  tile[y][x] = in[get_global_id(1) * get_global_size(0) + get_global_id(0)];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[(get_group_id(0) * 16 + y) * get_global_size(1) + get_group_id(1) * 16 + x] = tile[x][y];\n"
    "}\n"
    "kernel void histogram(global const uint* in, volatile global uint* bins) {\n"
    "  atomic_inc(&bins[in[get_global_id(0)] % 16]);\n"
    "}\n"
    "kernel void twice(global uint* x) { x[get_global_id(0)] *= 2; }\n"
    "kernel void add_one(global uint* x) { x[get_global_id(0)] += 1; }\n"
    "kernel void says(uint n) { if (get_global_id(0) == 3) printf(\"work-item 3 of %u\\n\", n); }\n";

static int differences;

static void expect(int holds, const char* what) {
  printf("%s: %s\n", what, holds ? "right" : "WRONG");
  differences += !holds;
}

static void need(cl_int code, const char* call) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", call, code);
  exit(1);
}
#define NEED(call) need(call, #call)

static cl_platform_id intels_platform(void) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) count = 0;
  for (cl_uint each = 0; each < count && each < 16; ++each) {
    char vendor[256] = "";
    NEED(clGetPlatformInfo(platforms[each], CL_PLATFORM_VENDOR, sizeof vendor, vendor, NULL));
    if (strstr(vendor, "Intel")) return platforms[each];
  }
  puts("skipped: no OpenCL platform is Intel's");
  exit(kSkipped);
}

static cl_kernel kernel_of(cl_program program, const char* name) {
  cl_int code = 0;
  const cl_kernel kernel = clCreateKernel(program, name, &code);
  need(code, name);
  return kernel;
}

static cl_mem buffer_of(cl_context context, cl_mem_flags flags, size_t bytes, void* from) {
  cl_int code = 0;
  const cl_mem buffer = clCreateBuffer(context, flags, bytes, from, &code);
  need(code, "clCreateBuffer");
  return buffer;
}

static cl_program built(cl_program program, cl_device_id device) {
  if (clBuildProgram(program, 1, &device, "", NULL, NULL) == CL_SUCCESS) return program;
  char log[4096] = "";
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
  fprintf(stderr, "clBuildProgram: %s\n", log);
  exit(1);
}

static void run(cl_command_queue queue, cl_kernel kernel, size_t items, size_t group, cl_uint waits,
                const cl_event* after, cl_event* done) {
  need(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, waits, after, done),
       "clEnqueueNDRangeKernel");
}

static void test_saxpy(cl_context context, cl_command_queue queue, cl_program program) {
  static float x[kItems], y[kItems], got[kItems];
  for (int i = 0; i < kItems; ++i) x[i] = (float)i, y[i] = (float)(2 * i + 1);
  const cl_mem in = buffer_of(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof x, x);
  const cl_mem out = buffer_of(context, CL_MEM_READ_WRITE, sizeof y, NULL);
  NEED(clEnqueueWriteBuffer(queue, out, CL_FALSE, 0, sizeof y, y, 0, NULL, NULL));
  const cl_kernel kernel = kernel_of(program, "saxpy");
  const float a = 3;
  NEED(clSetKernelArg(kernel, 0, sizeof a, &a));
  NEED(clSetKernelArg(kernel, 1, sizeof in, &in));
  NEED(clSetKernelArg(kernel, 2, sizeof out, &out));
  run(queue, kernel, kItems, kGroup, 0, NULL, NULL);
  NEED(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
  int right = 1;
  for (int i = 0; i < kItems; ++i) right &= got[i] == 3 * x[i] + y[i];
  expect(right, "buffers written and read, saxpy");
  NEED(clReleaseKernel(kernel));
  NEED(clReleaseMemObject(in));
  NEED(clReleaseMemObject(out));
}

/// Sizes that end shortly behind a page.
static void test_last_page(cl_context context, cl_command_queue queue, cl_program program) {
  static const size_t kSizes[] = {4096 + 20, 4096 + 24, 4096 + 28, 4 * 4096 + 24};
  static cl_uint in[kItems + 6], got[kItems + 6];
  int right = 1;
  for (size_t each = 0; each < sizeof kSizes / sizeof *kSizes; ++each) {
    const size_t items = kSizes[each] / sizeof *in;
    for (size_t i = 0; i < items; ++i) in[i] = (cl_uint)(i * 7 + 1), got[i] = 0;
    const cl_mem buffer = buffer_of(context, CL_MEM_READ_WRITE, items * sizeof *in, NULL);
    NEED(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, items * sizeof *in, in, 0, NULL, NULL));
    const cl_kernel kernel = kernel_of(program, "twice");
    NEED(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    run(queue, kernel, items, 1, 0, NULL, NULL);
    NEED(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, items * sizeof *in, got, 0, NULL, NULL));
    for (size_t i = 0; i < items; ++i) right &= got[i] == 2 * in[i];
    NEED(clReleaseKernel(kernel));
    NEED(clReleaseMemObject(buffer));
  }
  expect(right, "buffers that end shortly behind a page");
}

static void test_local_memory(cl_context context, cl_command_queue queue, cl_program program) {
  static cl_uint in[kItems], turned[kItems];
  cl_uint sums[kGroups], wanted[kGroups] = {0};
  for (cl_uint i = 0; i < kItems; ++i) in[i] = i * 2654435761u, wanted[i / kGroup] += in[i];
  const cl_mem from = buffer_of(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof in, in);
  const cl_mem to = buffer_of(context, CL_MEM_WRITE_ONLY, sizeof turned, NULL);
  cl_kernel kernel = kernel_of(program, "sums");
  NEED(clSetKernelArg(kernel, 0, sizeof from, &from));
  NEED(clSetKernelArg(kernel, 1, sizeof to, &to));
  NEED(clSetKernelArg(kernel, 2, kGroup * sizeof(cl_uint), NULL));
  run(queue, kernel, kItems, kGroup, 0, NULL, NULL);
  NEED(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof sums, sums, 0, NULL, NULL));
  expect(memcmp(sums, wanted, sizeof sums) == 0, "local memory of an argument, barriers");
  NEED(clReleaseKernel(kernel));

  kernel = kernel_of(program, "turn");
  NEED(clSetKernelArg(kernel, 0, sizeof from, &from));
  NEED(clSetKernelArg(kernel, 1, sizeof to, &to));
  const size_t items[2] = {128, kItems / 128}, group[2] = {16, 16};
  NEED(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, items, group, 0, NULL, NULL));
  NEED(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof turned, turned, 0, NULL, NULL));
  int right = 1;
  for (size_t y = 0; y < items[1]; ++y)
    for (size_t x = 0; x < items[0]; ++x) right &= turned[x * items[1] + y] == in[y * items[0] + x];
  expect(right, "local memory of a kernel, two dimensions");
  NEED(clReleaseKernel(kernel));
  NEED(clReleaseMemObject(from));
  NEED(clReleaseMemObject(to));
}

static void test_atomics(cl_context context, cl_command_queue queue, cl_program program) {
  static cl_uint in[kItems];
  cl_uint wanted[16] = {0};
  const cl_uint zero = 0;
  for (cl_uint i = 0; i < kItems; ++i) in[i] = i * i + i / 7, ++wanted[in[i] % 16];
  const cl_mem from = buffer_of(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof in, in);
  const cl_mem bins = buffer_of(context, CL_MEM_READ_WRITE, sizeof wanted, NULL);
  NEED(clEnqueueFillBuffer(queue, bins, &zero, sizeof zero, 0, sizeof wanted, 0, NULL, NULL));
  const cl_kernel kernel = kernel_of(program, "histogram");
  NEED(clSetKernelArg(kernel, 0, sizeof from, &from));
  NEED(clSetKernelArg(kernel, 1, sizeof bins, &bins));
  run(queue, kernel, kItems, kGroup, 0, NULL, NULL);
  cl_int code = 0;
  const cl_uint* const got =
      clEnqueueMapBuffer(queue, bins, CL_TRUE, CL_MAP_READ, 0, sizeof wanted, 0, NULL, NULL, &code);
  need(code, "clEnqueueMapBuffer");
  expect(memcmp(got, wanted, sizeof wanted) == 0, "a filled and a mapped buffer, atomics");
  NEED(clEnqueueUnmapMemObject(queue, bins, (void*)got, 0, NULL, NULL));
  NEED(clFinish(queue));
  NEED(clReleaseKernel(kernel));
  NEED(clReleaseMemObject(from));
  NEED(clReleaseMemObject(bins));
}

/// ((i * 2) + 1) * 2, copied: each command of an out-of-order queue waits for the one before.
static void test_events(cl_context context, cl_device_id device, cl_program program) {
  cl_int code = 0;
  const cl_queue_properties properties[] = {
      CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, 0};
  const cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, properties, &code);
  need(code, "clCreateCommandQueueWithProperties");
  static cl_uint in[kItems], got[kItems];
  for (cl_uint i = 0; i < kItems; ++i) in[i] = i;
  const cl_mem x = buffer_of(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, sizeof in, in);
  const cl_mem copy = buffer_of(context, CL_MEM_READ_WRITE, sizeof in, NULL);
  const cl_kernel twice = kernel_of(program, "twice"), add_one = kernel_of(program, "add_one");
  NEED(clSetKernelArg(twice, 0, sizeof x, &x));
  NEED(clSetKernelArg(add_one, 0, sizeof x, &x));
  cl_event done[5];
  run(queue, twice, kItems, kGroup, 0, NULL, &done[0]);
  run(queue, add_one, kItems, kGroup, 1, &done[0], &done[1]);
  run(queue, twice, kItems, kGroup, 1, &done[1], &done[2]);
  NEED(clEnqueueCopyBuffer(queue, x, copy, 0, 0, sizeof in, 1, &done[2], &done[3]));
  NEED(clEnqueueReadBuffer(queue, copy, CL_FALSE, 0, sizeof got, got, 1, &done[3], &done[4]));
  NEED(clWaitForEvents(1, &done[4]));
  int right = 1;
  for (cl_uint i = 0; i < kItems; ++i) right &= got[i] == 4 * i + 2;
  expect(right, "memory of the host's, events in an out-of-order queue");
  // Between events they say nothing: the driver adds the host's clock to the GPU's, which it cannot read
  // here.
  int lasted = 1;
  for (int each = 0; each < 3; ++each) {
    cl_int state = 0;
    cl_ulong start = 0, end = 0;
    NEED(clGetEventInfo(done[each], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL));
    NEED(clGetEventProfilingInfo(done[each], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    NEED(clGetEventProfilingInfo(done[each], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    lasted &= state == CL_COMPLETE && start < end;
  }
  expect(lasted, "events are complete, their kernels began before they ended");
  for (int each = 0; each < 5; ++each) NEED(clReleaseEvent(done[each]));
  NEED(clReleaseKernel(twice));
  NEED(clReleaseKernel(add_one));
  NEED(clReleaseMemObject(x));
  NEED(clReleaseMemObject(copy));
  NEED(clReleaseCommandQueue(queue));
}

static void test_shared_memory(cl_context context, cl_command_queue queue, cl_program program) {
  cl_uint* const x = clSVMAlloc(context, CL_MEM_READ_WRITE, kItems * sizeof(cl_uint), 0);
  if (!x) {
    expect(0, "clSVMAlloc");
    return;
  }
  NEED(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, x, kItems * sizeof(cl_uint), 0, NULL, NULL));
  for (cl_uint i = 0; i < kItems; ++i) x[i] = i;
  NEED(clEnqueueSVMUnmap(queue, x, 0, NULL, NULL));
  const cl_kernel kernel = kernel_of(program, "twice");
  NEED(clSetKernelArgSVMPointer(kernel, 0, x));
  run(queue, kernel, kItems, kGroup, 0, NULL, NULL);
  NEED(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, x, kItems * sizeof(cl_uint), 0, NULL, NULL));
  int right = 1;
  for (cl_uint i = 0; i < kItems; ++i) right &= x[i] == 2 * i;
  expect(right, "shared virtual memory");
  NEED(clEnqueueSVMUnmap(queue, x, 0, NULL, NULL));
  NEED(clFinish(queue));
  clSVMFree(context, x);
  NEED(clReleaseKernel(kernel));
}

/// The same answers from the native code that the driver gives away.
static void test_binary(cl_context context, cl_device_id device, cl_command_queue queue, cl_program program) {
  size_t size = 0;
  NEED(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
  unsigned char* binary = malloc(size);
  NEED(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
  cl_int code = 0;
  const cl_program again =
      clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char**)&binary, NULL, &code);
  need(code, "clCreateProgramWithBinary");
  test_saxpy(context, queue, built(again, device));
  NEED(clReleaseProgram(again));
  free(binary);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);  // what was right is told, also where the driver ends the program
  const cl_platform_id platform = intels_platform();
  cl_device_id device = NULL;
  NEED(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
  char name[256] = "", version[256] = "";
  NEED(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL));
  NEED(clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof version, version, NULL));
  printf("%s, driver %s\n", name, version);
  cl_int code = 0;
  const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  need(code, "clCreateContext");
  const cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &code);
  need(code, "clCreateCommandQueueWithProperties");
  const char* source = kSource;
  const cl_program program = built(clCreateProgramWithSource(context, 1, &source, NULL, &code), device);

  test_saxpy(context, queue, program);
  test_last_page(context, queue, program);
  test_local_memory(context, queue, program);
  test_atomics(context, queue, program);
  test_events(context, device, program);
  test_shared_memory(context, queue, program);
  test_binary(context, device, queue, program);
  const cl_kernel says = kernel_of(program, "says");
  const cl_uint items = kGroup;
  NEED(clSetKernelArg(says, 0, sizeof items, &items));
  run(queue, says, kGroup, kGroup, 0, NULL, NULL);
  NEED(clFinish(queue));
  NEED(clReleaseKernel(says));

  NEED(clReleaseProgram(program));
  NEED(clReleaseCommandQueue(queue));
  NEED(clReleaseContext(context));
  printf("%d wrong\n", differences);
  return differences != 0;
}
