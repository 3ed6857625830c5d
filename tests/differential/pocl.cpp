// SPDX-License-Identifier: MIT
#include "differential/pocl.hpp"

#include <CL/cl.h>

#include <array>
#include <span>

namespace kiln::test {
namespace {

template <auto release>
struct Release {
  template <class T>
  void operator()(T* handle) const {
    release(handle);
  }
};
using Context = std::unique_ptr<_cl_context, Release<clReleaseContext>>;
using Queue = std::unique_ptr<_cl_command_queue, Release<clReleaseCommandQueue>>;
using Program = std::unique_ptr<_cl_program, Release<clReleaseProgram>>;
using Kernel = std::unique_ptr<_cl_kernel, Release<clReleaseKernel>>;
using Buffer = std::unique_ptr<_cl_mem, Release<clReleaseMemObject>>;

/// The CPU device of a platform whose name says that it is PoCL's.
cl_device_id find_device() {
  std::array<cl_platform_id, 8> platforms;
  cl_uint count = 0;
  if (clGetPlatformIDs(platforms.size(), platforms.data(), &count) != CL_SUCCESS) return nullptr;
  for (const cl_platform_id platform : std::span(platforms).first(std::min<std::size_t>(count, 8))) {
    std::array<char, 256> name{};
    cl_device_id device = nullptr;
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, name.size() - 1, name.data(), nullptr) == CL_SUCCESS &&
        std::string_view(name.data()).find("Portable") != std::string_view::npos &&
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr) == CL_SUCCESS)
      return device;
  }
  return nullptr;
}

class OpenPocl : public Pocl {
 public:
  OpenPocl(cl_device_id device, Context context, Queue queue)
      : device_(device), context_(std::move(context)), queue_(std::move(queue)) {}

  std::optional<Answers> run(const GeneratedKernel& kernel, std::uint64_t seed, std::string& why) override {
    const char* text = kernel.text.c_str();
    const Program program(clCreateProgramWithSource(context_.get(), 1, &text, nullptr, nullptr));
    if (clBuildProgram(program.get(), 1, &device_, "-cl-std=CL1.2 -w", nullptr, nullptr) != CL_SUCCESS) {
      std::array<char, 4096> log{};
      clGetProgramBuildInfo(program.get(), device_, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(),
                            nullptr);
      return why = std::string("does not build it: ") + log.data(), std::nullopt;
    }
    const Kernel made(clCreateKernel(program.get(), "test", nullptr));
    auto given = inputs(seed);
    Answers answers(kernel);
    const std::array buffers{buffer(given), buffer(answers.out), buffer(answers.atomics),
                             buffer(answers.scratch)};
    for (cl_uint i = 0; i < buffers.size(); ++i) {
      cl_mem memory = buffers[i].get();
      if (clSetKernelArg(made.get(), i, sizeof memory, &memory) != CL_SUCCESS)
        return why = "does not take an argument", std::nullopt;
    }
    const std::size_t items = kItems, group = kGroupItems;
    if (clEnqueueNDRangeKernel(queue_.get(), made.get(), 1, nullptr, &items, &group, 0, nullptr, nullptr) !=
            CL_SUCCESS ||
        !read(buffers[1], answers.out) || !read(buffers[2], answers.atomics) ||
        !read(buffers[3], answers.scratch))
      return why = "does not run it", std::nullopt;
    return answers;
  }

 private:
  template <class T>
  Buffer buffer(std::vector<T>& from) {
    return Buffer(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                 from.size() * sizeof(T), from.data(), nullptr));
  }
  template <class T>
  bool read(const Buffer& buffer, std::vector<T>& to) {
    return clEnqueueReadBuffer(queue_.get(), buffer.get(), CL_TRUE, 0, to.size() * sizeof(T), to.data(), 0,
                               nullptr, nullptr) == CL_SUCCESS;
  }

  cl_device_id device_;
  Context context_;
  Queue queue_;
};

}  // namespace

std::unique_ptr<Pocl> open_pocl() {
  cl_device_id device = find_device();
  if (device == nullptr) return nullptr;
  Context context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr));
  Queue queue(clCreateCommandQueue(context.get(), device, 0, nullptr));
  if (context == nullptr || queue == nullptr) return nullptr;
  return std::make_unique<OpenPocl>(device, std::move(context), std::move(queue));
}

}  // namespace kiln::test
