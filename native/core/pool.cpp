#include "core/pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "core/cancel.hpp"
#include "core/cores.hpp"

#ifndef _WIN32
#include <pthread.h>
#include <signal.h>
#endif
#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace gapless {
namespace {

using Clock = std::chrono::steady_clock;

// How long a thread of the pool spins for work, and the caller for the other threads, before it sleeps. A sleeping thread takes some 50 µs to wake, a
// spinning one under 1 µs: spinning for as long as waking takes wastes at most as much time again.
constexpr auto spin_time = std::chrono::microseconds(50);
// The caller wakes this often, while it waits for a long piece of another thread, to listen for Ctrl-C; core/cancel.hpp has the same interval.
constexpr auto listen_time = std::chrono::milliseconds(20);

GAPLESS_INLINE void pause() {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
  _mm_pause();
#elif defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) && !defined(_MSC_VER)
  asm volatile("yield");
#else
  std::this_thread::yield();
#endif
}

// Spins until done() is true, for spin_time at most, and returns done(). The clock is read every 32 rounds: reading it costs as much as a pause or
// two.
template <class Done>
bool spin(const Done& done) {
  const Clock::time_point end = Clock::now() + spin_time;
  for (;;) {
    for (int round = 0; round < 32; ++round) {
      if (done()) return true;
      pause();
    }
    if (Clock::now() > end) return done();
  }
}

// Blocks all signals while threads are started. A thread inherits the mask of the thread that starts it, and signals must reach the threads of
// Python, whose waits they interrupt.
struct SignalsBlocked {
#ifndef _WIN32
  sigset_t before;
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
#else
  SignalsBlocked() {}
  ~SignalsBlocked() {}
#endif
};

thread_local bool inside = false;  // whether this thread is doing a piece, or belongs to the pool: then it does not share work again
thread_local int limit_here = 0;
std::atomic<int> limit{0}, cores{0};

// The state of the job in one word, so that a thread joins by one exchange and no thread touches a job that its caller has closed:
// the job's number (32 bits), whether it is open (1), the seats that are left for joining threads (15), and the threads inside (16).
using State = std::uint64_t;
constexpr State one_inside = 1, one_seat = State{1} << 16, open = State{1} << 31, one_job = State{1} << 32;
constexpr int most_threads = 1 << 12;  // well below the 2¹⁵ seats and 2¹⁶ threads inside that the state has room for

State job_of(State state) { return state >> 32; }
int seats_of(State state) { return static_cast<int>((state >> 16) & 0x7fff); }
int inside_of(State state) { return static_cast<int>(state & 0xffff); }

class Pool {
 public:
  // Does all pieces and returns true, or throws the exception of the lowest piece that threw one. Returns false, with nothing done, where another
  // thread uses the pool.
  bool run(Index pieces, int threads, const std::function<void(Index, int)>& work);

 private:
  void start(int workers);
  void live();
  void pieces_of(int thread, bool listens);
  void failed(Index piece) noexcept;
  void wait_for_others();

  std::mutex user_;  // held by the caller of a job until it ends
  alignas(64) std::atomic<State> state_{0};
  alignas(64) std::atomic<Index> next_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<bool> caller_sleeps_{false};
  std::mutex sleep_;
  std::condition_variable work_came_, all_left_;
  int workers_ = 0;

  // The job. It is written while no thread is inside, and read by the threads inside.
  const std::function<void(Index, int)>* work_ = nullptr;
  Index pieces_ = 0;
  std::mutex failure_;
  std::exception_ptr error_;
  Index error_piece_ = 0;
};

// The pool is never destroyed, since its threads still wait on it when the process ends. The child of a fork has none of the threads: it leaves the
// old pool as it is, and makes a new one.
std::atomic<Pool*> current{nullptr};

Pool& pool() {
  Pool* found = current.load(std::memory_order_acquire);
  if (found != nullptr) return *found;
#ifndef _WIN32
  static const int registered = pthread_atfork(nullptr, nullptr, [] {
    current.store(nullptr);
    cores.store(0);
  });
  (void)registered;
#endif
  Pool* made = new Pool;
  if (current.compare_exchange_strong(found, made)) return *made;
  delete made;
  return *found;
}

void Pool::start(int workers) {
  if (workers_ >= workers) return;
  const SignalsBlocked blocked;
  for (; workers_ < workers; ++workers_) {
    try {
      std::thread([this] { live(); }).detach();
    } catch (const std::system_error&) {
      return;  // the system has no more threads to give, and those that were started do the work
    }
  }
}

void Pool::live() {
  inside = true;
  never_listen();
  State seen = 0;  // the number of the last job that this thread joined
  const auto joinable = [&](State state) { return (state & open) != 0 && seats_of(state) > 0 && job_of(state) != seen; };
  for (;;) {
    if (!spin([&] { return joinable(state_.load(std::memory_order_relaxed)); })) {
      std::unique_lock lock(sleep_);
      // Counted before the next look at the state: a caller opens its job first and counts sleepers then, so that no wake-up is missed.
      sleepers_.fetch_add(1);
      if (!joinable(state_.load())) work_came_.wait(lock);
      sleepers_.fetch_sub(1);
      // A thread that wakes too late for a short job spins for the next one, which often follows at once.
      if (!joinable(state_.load())) continue;
    }
    State state = state_.load();
    while (joinable(state)) {
      if (!state_.compare_exchange_weak(state, state - one_seat + one_inside)) continue;
      seen = job_of(state);
      pieces_of(seats_of(state), false);
      const State before = state_.fetch_sub(one_inside);
      if (inside_of(before) == 1 && caller_sleeps_.load()) {
        const std::lock_guard lock(sleep_);
        all_left_.notify_one();
      }
    }
  }
}

void Pool::pieces_of(int thread, bool listens) {
  for (;;) {
    const Index piece = next_.fetch_add(1, std::memory_order_relaxed);
    if (piece >= pieces_) return;
    try {
      (*work_)(piece, thread);
      if (listens) listen();
    } catch (...) {
      failed(piece);
    }
  }
}

void Pool::failed(Index piece) noexcept {
  next_.store(pieces_, std::memory_order_relaxed);  // no thread begins another piece
  const std::lock_guard lock(failure_);
  if (error_ && error_piece_ < piece) return;
  error_ = std::current_exception();
  error_piece_ = piece;
}

void Pool::wait_for_others() {
  const auto left = [&] { return inside_of(state_.load()) == 0; };
  if (spin(left)) return;
  bool listens = true;
  for (;;) {
    {
      std::unique_lock lock(sleep_);
      caller_sleeps_.store(true);
      const bool done = all_left_.wait_for(lock, listen_time, left);
      caller_sleeps_.store(false);
      if (done) return;
    }
    if (current.load() != this) throw std::runtime_error("the process forked inside of a piece of shared work.");
    if (!listens) continue;
    try {
      listen();
    } catch (...) {
      failed(-1);
      listens = false;
    }
  }
}

bool Pool::run(Index pieces, int threads, const std::function<void(Index, int)>& work) {
  const std::unique_lock user(user_, std::try_to_lock);
  if (!user) return false;
  start(threads - 1);
  work_ = &work;
  pieces_ = pieces;
  next_.store(0, std::memory_order_relaxed);
  const int seats = threads - 1;
  const State job = (job_of(state_.load(std::memory_order_relaxed)) + 1) * one_job;
  state_.store(job + open + static_cast<State>(seats) * one_seat);
  const int asleep = sleepers_.load();
  if (asleep > 0) {
    { const std::lock_guard lock(sleep_); }
    for (int k = 0; k < std::min(asleep, seats); ++k) work_came_.notify_one();
  }
  inside = true;
  pieces_of(0, true);
  inside = false;
  state_.fetch_and(~open);
  wait_for_others();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return true;
}

}  // namespace

int core_count() {
  int known = cores.load(std::memory_order_relaxed);
  if (known == 0) cores.store(known = std::min(usable_cores(), most_threads), std::memory_order_relaxed);
  return known;
}

int thread_count() {
  int out = core_count();
  const int all = limit.load(std::memory_order_relaxed);
  if (all > 0) out = std::min(out, all);
  if (limit_here > 0) out = std::min(out, limit_here);
  return out;
}

int thread_limit() { return limit.load(std::memory_order_relaxed); }
void limit_threads(int most) { limit.store(std::max(most, 0), std::memory_order_relaxed); }
int limit_threads_here(int most) { return std::exchange(limit_here, std::max(most, 0)); }
void pretend_cores(int count) { cores.store(std::clamp(count, 0, most_threads), std::memory_order_relaxed); }

void share(Index pieces, const std::function<void(Index, int)>& work) {
  if (pieces > 1 && !inside) {
    const int threads = static_cast<int>(std::min<Index>(thread_count(), pieces));
    if (threads > 1 && pool().run(pieces, threads, work)) return;
  }
  for (Index piece = 0; piece < pieces; ++piece) {
    work(piece, 0);
    listen();
  }
}

}  // namespace gapless
