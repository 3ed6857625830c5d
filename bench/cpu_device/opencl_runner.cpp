// SPDX-License-Identifier: MIT
// Runs a case through OpenCL on PoCL: from the kernel's SPIR-V where PoCL takes it, else from its source.
#define CL_TARGET_OPENCL_VERSION 210
#include <CL/cl.h>

#include <fstream>
#include <iterator>

#include "case.hpp"

namespace kiln::bench {
namespace {

template <class Ask>
std::string text_of(Ask ask) {
  std::size_t size = 0;
  if (ask(std::size_t{0}, nullptr, &size) != CL_SUCCESS) return {};
  std::string text(size, '\0');
  if (ask(size, text.data(), nullptr) != CL_SUCCESS) return {};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// PoCL 3.1 lacks sub-groups, and would not build the other kernels of a file that has one with them.
constexpr const char* kNoSubGroups =
    "#define get_sub_group_local_id() 0\n"
    "#define intel_sub_group_block_read_ul(from) 0\n"
    "#define sub_group_broadcast(value, from) value\n#line 1\n";

// Handles live as long as the process: it runs one benchmark.
class OpenClRunner : public Runner {
 public:
  std::string open(const Case& what) {
    if (!find_pocl()) return "PoCL is not installed";
    cl_int error = CL_SUCCESS;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
    if (error == CL_SUCCESS) queue_ = clCreateCommandQueueWithProperties(context_, device_, nullptr, &error);
    if (error != CL_SUCCESS) return "PoCL gives no queue";
    const bool own = what.own;
    if (const std::string problem =
            build((own ? KILN_BENCH_OWN "/" : KILN_BENCH_SPIRV "/") + what.file + ".spv",
                  (own ? KILN_BENCH_OWN "/" : KILN_BENCH_KERNELS "/") + what.file + ".cl",
                  what.kernel == "registers_256" || what.file == "sub_groups");
        !problem.empty())
      return problem;
    kernel_ = clCreateKernel(program_, what.kernel.c_str(), &error);
    if (error != CL_SUCCESS) return "PoCL does not find the kernel";
    for (const Bytes& bytes : what.buffers) {
      buffers_.push_back(clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.size(),
                                        const_cast<std::byte*>(bytes.data()), &error));
      sizes_.push_back(bytes.size());
      if (error != CL_SUCCESS) return "PoCL has no memory";
    }
    arguments_ = what.arguments;
    for (std::size_t i = 0; i < 2; ++i) {
      group_[i] = what.group_size[i];
      items_[i] = std::size_t{what.groups[i]} * group_[i];
    }
    return {};
  }

  bool run() override {
    for (cl_uint i = 0; i < arguments_.size(); ++i) {
      const Argument& argument = arguments_[i];
      const cl_int set = argument.kind == Argument::Kind::buffer
                             ? clSetKernelArg(kernel_, i, sizeof(cl_mem), &buffers_[argument.number])
                         : argument.kind == Argument::Kind::value
                             ? clSetKernelArg(kernel_, i, argument.size, &argument.number)
                             : clSetKernelArg(kernel_, i, argument.number, nullptr);
      if (set != CL_SUCCESS) return false;
    }
    return clEnqueueNDRangeKernel(queue_, kernel_, 2, nullptr, items_, group_, 0, nullptr, nullptr) ==
               CL_SUCCESS &&
           clFinish(queue_) == CL_SUCCESS;
  }

  [[nodiscard]] std::string from() const override { return from_; }

  std::optional<Bytes> read(std::size_t index) override {
    Bytes bytes(sizes_[index]);
    if (clEnqueueReadBuffer(queue_, buffers_[index], CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr,
                            nullptr) != CL_SUCCESS)
      return std::nullopt;
    return bytes;
  }

 private:
  bool find_pocl() {
    cl_platform_id platforms[8];
    cl_uint count = 0;
    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) return false;
    for (cl_uint i = 0; i < count && i < 8; ++i) {
      const std::string name = text_of([&](std::size_t size, void* text, std::size_t* needed) {
        return clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, size, text, needed);
      });
      if (name.find("Portable") != name.npos &&
          clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device_, nullptr) == CL_SUCCESS)
        return true;
    }
    return false;
  }

  std::string build(const std::string& spirv, const std::string& source, bool sub_groups) {
    const std::string taken = text_of([&](std::size_t size, void* text, std::size_t* needed) {
      return clGetDeviceInfo(device_, CL_DEVICE_IL_VERSION, size, text, needed);
    });
    cl_int error = CL_SUCCESS;
    if (taken.find("SPIR-V") != taken.npos) {
      const std::string words = read_file(spirv);
      program_ = clCreateProgramWithIL(context_, words.data(), words.size(), &error);
      if (error == CL_SUCCESS && clBuildProgram(program_, 1, &device_, "", nullptr, nullptr) == CL_SUCCESS)
        return from_ = "SPIR-V", std::string();
    }
    from_ = "source";
    const std::string text = (sub_groups ? "" : kNoSubGroups) + read_file(source);
    const char* start = text.c_str();
    program_ = clCreateProgramWithSource(context_, 1, &start, nullptr, &error);
    if (error == CL_SUCCESS &&
        clBuildProgram(program_, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr) == CL_SUCCESS)
      return {};
    return "PoCL cannot build it: " + text_of([&](std::size_t size, void* log, std::size_t* needed) {
             return clGetProgramBuildInfo(program_, device_, CL_PROGRAM_BUILD_LOG, size, log, needed);
           });
  }

  std::string from_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
  std::vector<cl_mem> buffers_;
  std::vector<std::size_t> sizes_;
  std::vector<Argument> arguments_;
  std::size_t items_[2] = {}, group_[2] = {};
};

}  // namespace

std::unique_ptr<Runner> run_with_opencl(const Case& what, std::string& why) {
  auto runner = std::make_unique<OpenClRunner>();
  why = runner->open(what);
  if (!why.empty()) return nullptr;
  return runner;
}

}  // namespace kiln::bench
