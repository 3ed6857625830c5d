// SPDX-License-Identifier: MIT
// kiln-store: speaks to the stores of several machines for one program, so that their libraries and failures
// stay out of it. The library starts it.
#include <curl/curl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "store/service.hpp"
#include "support/limits.hpp"

namespace kiln::store {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kControl = STDIN_FILENO;
constexpr std::chrono::seconds kIdle = 60s, kToFinish = 10s;
// A program that loads one kernel after the other does something with each: so long the next is looked for.
constexpr std::chrono::microseconds kBurst = 1ms;
constexpr rlim_t kMostMemory = rlim_t{2} << 30;  // bytes: a store that lies takes no more
constexpr rlim_t kMostFiles = 16 << 10;
constexpr std::size_t kStack = 1 << 20;  // bytes of a thread, whatever the user's programs have

/// Readable when the program has ended that started this one: a child of it may keep the sockets. Empty where
/// the kernel has none (before Linux 5.3).
detail::Descriptor end_of_program() {
  ucred who{};
  socklen_t size = sizeof who;
  if (getsockopt(kControl, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.pid <= 0) return {};
  return detail::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, who.pid, 0)));
}

/// Its parent waits for nobody, and no signal for the program's group ends an upload.
void leave_parent() {
  const pid_t child = fork();
  if (child != 0) _exit(child < 0 ? 1 : 0);
  setsid();
}

/// What is in here, passwords and keys, is for nobody else's eyes.
void close_up() {
  prctl(PR_SET_DUMPABLE, 0);
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  detail::limit_memory(kMostMemory);
  // Two for each thread that asks, and a connection to each store.
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = std::max(files.rlim_cur, std::min(files.rlim_max, kMostFiles));
    setrlimit(RLIMIT_NOFILE, &files);
  }
  std::signal(SIGPIPE, SIG_IGN);
  (void)!chdir("/");
}

/// Entries come and go one after the other: what one took is not given back to the system before the next.
void keep_memory() {
  constexpr int kKept = 4 << 20;  // bytes of a thread
  mallopt(M_TRIM_THRESHOLD, kKept);
  mallopt(M_MMAP_THRESHOLD, kKept);
}

/// Stacks count as memory, and each thread that asks has one here.
void bound_stacks() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, kStack) == 0) pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

struct Activity {
  std::atomic<int> asked{0};  ///< questions under way
  std::atomic<Clock::rep> last{Clock::now().time_since_epoch().count()};
};

/// A question under way, also where memory ends meanwhile.
class Question {
 public:
  explicit Question(Activity& activity) : activity_(activity) { ++activity_.asked; }
  ~Question() {
    activity_.last = Clock::now().time_since_epoch().count();
    --activity_.asked;
  }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

 private:
  Activity& activity_;
};

bool gone_within(int socket, std::chrono::milliseconds time) {
  pollfd waiting{socket, POLLIN, 0};
  return poll(&waiting, 1, static_cast<int>(time.count())) != 0;  // nobody asks while he waits: it is the end
}

/// Told where memory ends; made while there is some.
const std::vector<std::byte>& no_memory_left() {
  static const std::vector<std::byte> message = [] {
    cache::StoreAnswer answer;
    answer.result = cache::StoreResult::failed;
    answer.reason = "kiln-store has no memory left";
    return cache::encode(answer);
  }();
  return message;
}

/// False: the asker is gone.
bool refuse_for_memory(int socket) {
  return cache::send_frame(socket, no_memory_left(), Clock::now() + 10s) == cache::FrameEnd::whole;
}

/// One question and its answer. False: there are no more.
bool serve_one(int socket, Service& service, std::optional<Connections>& connections,
               const cache::StoreRequest& request) {
  const auto send = [&](const cache::StoreAnswer& answer) {
    return cache::send_frame(socket, cache::encode_before_entry(answer), Clock::now() + 10s, answer.entry) ==
           cache::FrameEnd::whole;
  };
  const Service::Asker asker{[&](const cache::StoreAnswer& answer) { (void)send(answer); },
                             [&](std::chrono::milliseconds time) { return !gone_within(socket, time); }};
  std::uint64_t leads = request.lease;
  try {
    if (!connections) connections.emplace(service.stores());
    OwnAnswer own = service.answer(request, *connections, asker);
    own.answer.entry = own.entry.get();
    leads = own.answer.lease;
    if (send(own.answer)) return true;
  } catch (const std::bad_alloc&) {
    service.give_back(leads);
    return refuse_for_memory(socket);
  }
  service.give_back(leads);
  return false;
}

void serve(int socket, Service& service, Activity& activity) {
  const detail::Descriptor owner(socket);
  std::optional<Connections> connections;
  cache::FrameBytes message;
  cache::ShortWait questions(kBurst);
  try {
    while (cache::receive_frame(socket, message, Clock::now() + 24h, questions) == cache::FrameEnd::whole) {
      const auto request = cache::decode_store_request(message.get());
      if (!request) return;
      const Question under_way(activity);
      if (!serve_one(socket, service, connections, *request)) return;
    }
  } catch (const std::bad_alloc&) {  // of a question not all is read: the next would begin in its middle
    (void)refuse_for_memory(socket);
  }
}

/// False: there is no thread for it, for now.
bool serve_aside(detail::Descriptor& channel, Service& service, Activity& activity) {
  const int socket = dup(channel.get());
  if (socket < 0) return false;
  try {
    std::thread(serve, socket, std::ref(service), std::ref(activity)).detach();
    return true;
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  close(socket);
  return false;
}

/// One question that gets no thread. False: the asker is gone.
bool refuse(int socket, Service& service) {
  try {
    cache::FrameBytes message;
    if (cache::receive_frame(socket, message, Clock::now() + 1s) != cache::FrameEnd::whole) return false;
    const auto request = cache::decode_store_request(message.get());
    if (!request) return false;
    const OwnAnswer own = service.refuse(*request, "this machine gives kiln-store no more threads");
    return cache::send_frame(socket, cache::encode(own.answer), Clock::now() + 1s) == cache::FrameEnd::whole;
  } catch (const std::bad_alloc&) {
    (void)refuse_for_memory(socket);
    return false;
  }
}

/// Takes what comes within a second. False: it is over.
bool serve_next(Service& service, Activity& activity, int end, std::vector<detail::Descriptor>& waiting) {
  std::vector<pollfd> polled{{kControl, POLLIN, 0}, {end, POLLIN, 0}};
  const std::size_t others = polled.size();
  for (const detail::Descriptor& each : waiting) polled.push_back({each.get(), POLLIN, 0});
  if (poll(polled.data(), polled.size(), 1000) > 0) {
    if (polled[1].revents != 0) return false;
    for (std::size_t i = waiting.size(); i-- > 0;)
      if (polled[others + i].revents != 0 &&
          (serve_aside(waiting[i], service, activity) || !refuse(waiting[i].get(), service)))
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
    if (polled[0].revents == 0) return true;
    detail::Descriptor channel = cache::receive_descriptor(kControl);
    if (!channel) return false;
    if (!serve_aside(channel, service, activity)) waiting.push_back(std::move(channel));
    return true;
  }
  const Clock::time_point last{Clock::duration(activity.last.load())};
  return activity.asked != 0 || Clock::now() - last <= kIdle || !service.idle();
}

/// Sockets of threads that ask come through `kControl`, until the program ends, see `end`, or asks no more.
void serve_all(Service& service, Activity& activity, int end) {
  std::vector<detail::Descriptor> waiting;  // for a thread
  for (bool goes_on = true; goes_on;) {
    try {
      goes_on = serve_next(service, activity, end, waiting);
    } catch (const std::bad_alloc&) {  // others end, and give theirs back
      std::this_thread::sleep_for(10ms);
    }
  }
}

}  // namespace
}  // namespace kiln::store

int main() {
  using namespace kiln;
  using namespace kiln::store;
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(kControl, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) {
    std::fputs("kiln-store is started by the Kiln library, to ask caches of other machines\n", stderr);
    return 2;
  }
  const detail::Descriptor end = end_of_program();
  leave_parent();
  bound_stacks();
  close_up();
  keep_memory();
  std::vector<std::byte> message(1 << 18);
  const ssize_t count = recv(kControl, message.data(), message.size(), 0);
  const auto settings = cache::decode_store_settings(
      std::span(message).first(static_cast<std::size_t>(std::max<ssize_t>(count, 0))));
  if (!settings || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return 1;
  try {
    Service service(*settings);
    Activity activity;
    (void)no_memory_left();
    serve_all(service, activity, end.get());
    service.finish(Clock::now() + kToFinish);
    _exit(0);                           // threads that wait for stores are not waited for
  } catch (const std::system_error&) {  // no thread at all
    _exit(1);
  }
}
