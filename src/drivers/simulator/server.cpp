// SPDX-License-Identifier: MIT
// Listens, and gives each connection an engine of its program's machine.
#include "drivers/simulator/server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "drivers/simulator/connection.hpp"
#include "drivers/simulator/counting.hpp"
#include "drivers/simulator/memory/program.hpp"

namespace kiln::simulator {
namespace {

constexpr const char* kRegisters = "KILN_SIMULATOR_REGISTERS";

std::optional<std::uint8_t> byte_of(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  std::uint8_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What registers hold that nothing has written: kRegisters, 0 when unset; nothing when it is no byte. The
/// environment is read once.
std::optional<std::uint8_t> unwritten_registers() {
  static const std::optional<std::uint8_t> byte = [] {
    const char* const text = std::getenv(kRegisters);
    return text == nullptr || *text == '\0' ? std::uint8_t{0} : byte_of(text);
  }();
  return byte;
}

// Never destroyed: its threads work until the process is gone.
class Server {
 public:
  Server(const Model& model, int listener, bool after_fault, kiln_simulator_fault fault, void* user)
      : model_(model), listener_(listener), after_fault_(after_fault), fault_(fault), user_(user) {}

  void listen_on() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds kMost{10};  // for descriptors or memory to become free
    std::optional<Clock::time_point> fails_since;
    while (true) {
      pollfd waits{listener_, POLLIN, 0};
      if (poll(&waits, 1, -1) < 0) continue;
      ++newcomers_;
      const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket >= 0) {
        fails_since.reset();
        std::thread([this, socket] { attend(socket); }).detach();
        continue;
      }
      --newcomers_;
      const int error = errno;
      if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM) continue;
      const auto now = Clock::now();
      if (!fails_since) fails_since = now;
      if (now - *fails_since < kMost) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        continue;
      }
      fault_(user_, 0,
             (std::string("the driver's connection cannot be taken: ") + std::strerror(error)).c_str(), true);
      return;
    }
  }

  /// A process that lives and has a connection; 0: there is none.
  pid_t program() {
    const std::scoped_lock lock(mutex_);
    for (const auto& [process, machine] : machines_)
      if (process > 0 && (kill(process, 0) == 0 || errno == EPERM)) return process;
    return 0;
  }

 private:
  void attend(int socket) {
    bool is_new = true;
    const auto known = [&] { newcomers_ -= std::exchange(is_new, false); };
    talk_to(socket, known);
    known();
    close(socket);
  }

  /// `known`: called once the connection has an engine, whose reader tells what it is at.
  void talk_to(int socket, const auto& known) {
    const auto process = peer_process(socket);
    if (!process && !is_connected(socket)) return;  // a program that ended at once, as compilers do
    const int number = process.value_or(0);
    const auto tell = [this, number](const std::string& text, bool stuck) {
      fault_(user_, number, text.c_str(), stuck);
    };
    if (!process)
      tell(
          "the program behind a connection cannot be found in /proc, so that what it changes in memory stays "
          "unseen",
          true);
    const auto machine = machine_of(process);
    Engine engine(machine, after_fault_, tell);
    known();
    const auto served = serve(socket, engine);
    if (!served) tell("the driver's connection carried " + served.error(), true);
    release(process);
  }

  std::shared_ptr<Machine> machine_of(std::optional<pid_t> process) {
    const std::scoped_lock lock(mutex_);
    auto& [machine, count] = machines_[process.value_or(0)];
    if (!machine) {
      machine = std::make_shared<Machine>(model_, process);
      machine->unwritten_registers = unwritten_registers().value_or(0);
      machine->arrivals.newcomers = [this] {
        pollfd waits{listener_, POLLIN, 0};
        return newcomers_ != 0 || poll(&waits, 1, 0) > 0;
      };
    }
    ++count;
    return machine;
  }
  /// With its last connection a program is gone, or its driver.
  void release(std::optional<pid_t> process) {
    const std::scoped_lock lock(mutex_);
    const auto found = machines_.find(process.value_or(0));
    if (--found->second.second != 0) return;
    found->second.first->stop = true;
    machines_.erase(found);
  }

  const Model& model_;
  int listener_;
  bool after_fault_;
  kiln_simulator_fault fault_;
  void* user_;
  std::atomic<int> newcomers_{0};  ///< connections that are taken and have no engine yet
  std::mutex mutex_;
  std::map<pid_t, std::pair<std::shared_ptr<Machine>, int>> machines_;
};

std::mutex servers_mutex;
std::vector<Server*> servers;

std::string system_error(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

}  // namespace
}  // namespace kiln::simulator

extern "C" const char* kiln_simulator_start(const char* product, bool after_fault, kiln_simulator_fault fault,
                                            void* user, std::uint16_t* port) {
  using namespace kiln::simulator;
  thread_local std::string wrong;
  const auto refuse = [&](std::string text) {
    wrong = std::move(text);
    return wrong.c_str();
  };
  const Model* const model = find_model(product);
  if (!model) return refuse("`" + std::string(product) + "` is not simulated");
  if (!unwritten_registers())
    return refuse(std::string(kRegisters) + " must be a byte, 0 to 255 or 0x00 to 0xff, and not `" +
                  std::getenv(kRegisters) + "`");
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return refuse(system_error("no socket"));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(listener, 64) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const std::string text = system_error("no port of 127.0.0.1");
    close(listener);
    return refuse(text);
  }
  *port = ntohs(address.sin_port);
  auto* const server = new Server(*model, listener, after_fault, fault, user);
  {
    const std::scoped_lock lock(servers_mutex);
    servers.push_back(server);
  }
  std::thread([server] { server->listen_on(); }).detach();
  return nullptr;
}

extern "C" int kiln_simulator_program() {
  using namespace kiln::simulator;
  const std::scoped_lock lock(servers_mutex);
  for (Server* const server : servers)
    if (const pid_t process = server->program()) return process;
  return 0;
}

extern "C" void kiln_simulator_begin_counts() { kiln::simulator::counting().begin(); }

extern "C" void kiln_simulator_read_counts(void (*each)(void* user, const kiln_simulator_counted* counted),
                                           void* user) {
  for (const auto& code : kiln::simulator::counting().read()) {
    std::vector<kiln_simulator_count> counts;
    for (const auto& [offset, of] : code.counts.at)
      counts.push_back({offset, of.executed, of.lanes, of.bytes, of.lines, of.turns, of.conflicts});
    std::ranges::sort(counts, {}, &kiln_simulator_count::offset);
    const std::string target(code.target);
    const kiln_simulator_counted counted{target.c_str(), code.code.data(), code.code.size(), code.launches,
                                         code.groups,    code.threads,     counts.data(),    counts.size()};
    each(user, &counted);
  }
}
