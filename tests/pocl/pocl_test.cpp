// SPDX-License-Identifier: MIT
// An OpenCL program on PoCL's Level Zero back end over the CPU device: finds the device as a GPU, builds from
// source, copies, launches with a barrier and SLM, orders by events. Skipped where PoCL lacks that back end.
#include <CL/cl.h>

#include <array>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

constexpr const char* kSource = R"(
kernel void add(global const float* a, global const float* b, global float* sum) {
  size_t i = get_global_id(0);
  sum[i] = a[i] + b[i];
}
kernel void total(global const float* in, global float* out, local float* tile) {
  size_t i = get_local_id(0);
  tile[i] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t step = get_local_size(0) / 2; step > 0; step /= 2) {
    if (i < step) tile[i] += tile[i + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i == 0) out[get_group_id(0)] = tile[0];
}
)";
constexpr std::size_t kCount = 1024, kGroup = 64;

int fail(const char* what, cl_int code) {
  std::printf("%s: %d\n", what, code);
  return 1;
}

/// The first GPU of any platform that is the CPU device.
cl_device_id find_device() {
  std::array<cl_platform_id, 8> platforms{};
  cl_uint count = 0;
  if (clGetPlatformIDs(platforms.size(), platforms.data(), &count) != CL_SUCCESS) return nullptr;
  for (cl_uint i = 0; i < count && i < platforms.size(); ++i) {
    cl_device_id device = nullptr;
    std::array<char, 256> name{};
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 1, &device, nullptr) != CL_SUCCESS) continue;
    clGetDeviceInfo(device, CL_DEVICE_NAME, name.size() - 1, name.data(), nullptr);
    if (std::string(name.data()).find("Kiln") != std::string::npos) return device;
  }
  return nullptr;
}

}  // namespace

int main() {
  cl_device_id device = find_device();
  if (!device)
    return std::puts("skipped: no OpenCL platform has the device (PoCL with libpocl-devices-level0 does)"),
           77;
  cl_int code = 0;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  if (code != CL_SUCCESS) return fail("clCreateContext", code);
  cl_command_queue queue =
      clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
  if (code != CL_SUCCESS) return fail("clCreateCommandQueue", code);
  const char* source = kSource;
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
  code = clBuildProgram(program, 1, &device, "", nullptr, nullptr);
  if (code != CL_SUCCESS) return fail("clBuildProgram", code);
  cl_kernel add = clCreateKernel(program, "add", &code);
  if (code != CL_SUCCESS) return fail("clCreateKernel", code);
  cl_kernel total = clCreateKernel(program, "total", &code);
  if (code != CL_SUCCESS) return fail("clCreateKernel", code);

  std::vector<float> a(kCount), b(kCount, 2), totals(kCount / kGroup);
  std::iota(a.begin(), a.end(), 0.0f);
  std::array<cl_mem, 4> buffers{};
  for (cl_mem& buffer : buffers)
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, kCount * sizeof(float), nullptr, &code);
  std::array<cl_event, 4> events{};
  code |= clEnqueueWriteBuffer(queue, buffers[0], CL_FALSE, 0, kCount * 4, a.data(), 0, nullptr, &events[0]);
  code |= clEnqueueWriteBuffer(queue, buffers[1], CL_FALSE, 0, kCount * 4, b.data(), 0, nullptr, &events[1]);
  for (cl_uint i = 0; i < 3; ++i) code |= clSetKernelArg(add, i, sizeof(cl_mem), &buffers[i]);
  code |= clSetKernelArg(total, 0, sizeof(cl_mem), &buffers[2]);
  code |= clSetKernelArg(total, 1, sizeof(cl_mem), &buffers[3]);
  code |= clSetKernelArg(total, 2, kGroup * sizeof(float), nullptr);
  const std::size_t global = kCount, local = kGroup;
  code |= clEnqueueNDRangeKernel(queue, add, 1, nullptr, &global, &local, 2, events.data(), &events[2]);
  code |= clEnqueueNDRangeKernel(queue, total, 1, nullptr, &global, &local, 1, &events[2], &events[3]);
  code |= clEnqueueReadBuffer(queue, buffers[3], CL_TRUE, 0, totals.size() * 4, totals.data(), 1, &events[3],
                              nullptr);
  if (code != CL_SUCCESS) return fail("the queue", code);

  int wrong = 0;
  for (std::size_t group = 0; group < totals.size(); ++group) {
    float expected = 0;
    for (std::size_t i = group * kGroup; i < (group + 1) * kGroup; ++i) expected += a[i] + b[i];
    if (totals[group] != expected) ++wrong;  // whole numbers below 2^24: exact in any order
  }
  std::printf("%d of %zu totals wrong\n", wrong, totals.size());
  for (cl_event event : events) clReleaseEvent(event);
  for (cl_mem buffer : buffers) clReleaseMemObject(buffer);
  clReleaseKernel(add);
  clReleaseKernel(total);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return wrong == 0 ? 0 : 1;
}
