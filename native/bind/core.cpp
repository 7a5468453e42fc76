// Bindings of native/core: instruction sets, threads, and the one- and two-variable steps of the dual.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "core/votes.hpp"
#include "core/cancel.hpp"
#include "core/cores.hpp"
#include "core/isa.hpp"
#include "core/pool.hpp"

#ifdef _WIN32
#define GAPLESS_EXPORT extern "C" __declspec(dllexport)
#else
#define GAPLESS_EXPORT extern "C" __attribute__((visibility("default")))
#endif

// threadpoolctl looks these two functions up by name in the libraries of a process (gapless/machine.py registers them).
GAPLESS_EXPORT int gapless_get_num_threads() {
  const int limit = gapless::thread_limit(), cores = gapless::core_count();
  return limit > 0 && limit < cores ? limit : cores;
}
GAPLESS_EXPORT void gapless_set_num_threads(int most) { gapless::limit_threads(most); }

namespace gapless::bind {
namespace {

const std::vector<std::pair<std::string, Level>> names = {
#ifdef GAPLESS_X86_LEVELS
    {"v2", Level::v2}, {"v3", Level::v3}, {"v4", Level::v4},
#else
    {"base", Level::base},
#endif
};

std::vector<std::string> isa_levels() {
  std::vector<std::string> out;
  for (const auto& [name, level] : names)
    if (level <= best_level()) out.push_back(name);
  return out;
}

std::string isa() {
  for (const auto& [name, in_use] : names)
    if (in_use == level()) return name;
  return "base";
}

void use_isa(const std::string& to) {
  for (const auto& [name, wanted] : names)
    if (name == to && wanted <= best_level()) return use_level(wanted);
  std::string known;
  for (const std::string& name : isa_levels()) known += (known.empty() ? "" : ", ") + name;
  throw std::invalid_argument("the instruction set must be one of " + known + "; got " + to + ".");
}

void handle_signals() {
  nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void share_calls(Index pieces, nb::object call) {
  nb::gil_scoped_release release;
  share(pieces, [&](Index piece, int thread) {
    nb::gil_scoped_acquire lock;
    call(piece, thread);
  });
}

std::vector<double> share_times(Index pieces, Index rounds, double work, double rest) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  const auto busy = [&](double duration) {
    for (const auto start = Clock::now(); seconds(Clock::now() - start) < duration;) {
    }
  };
  std::vector<double> out;
  nb::gil_scoped_release release;
  for (Index round = 0; round < rounds; ++round) {
    busy(rest);
    const auto start = Clock::now();
    share(pieces, [&](Index, int) { busy(work); });
    out.push_back(seconds(Clock::now() - start));
  }
  return out;
}

}  // namespace

void bind_core(nb::module_& m) {
  m.def(
      "winners",
      [](In2<double> decisions, Index classes, InOut<Index> out) {
        winners({decisions.data(), count(decisions.shape(0)), count(decisions.shape(1)), count(decisions.shape(1))}, classes, out.data());
      },
      nb::arg("decisions"), nb::arg("classes"), nb::arg("out"), nb::call_guard<nb::gil_scoped_release>(),
      "Write the class that wins the votes of each row's pairs of classes.");
  m.def(
      "possible_winners",
      [](In2<double> low, In2<double> high, Index classes, nb::ndarray<bool, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
        const Index n = count(low.shape(0)), pairs = count(low.shape(1));
        possible_winners({low.data(), n, pairs, pairs}, {high.data(), n, pairs, pairs}, classes, {out.data(), n, classes, classes});
      },
      nb::arg("low"), nb::arg("high"), nb::arg("classes"), nb::arg("out"), nb::call_guard<nb::gil_scoped_release>(),
      "Write which classes may win the votes of pairs whose decisions are known to intervals.");
  signal_handler = handle_signals;
  m.def("isa", isa, "The instruction set in use.");
  m.def("isa_levels", isa_levels, "The instruction sets that this machine has, slowest first.");
  m.def("use_isa", use_isa, nb::arg("level"), "Use an instruction set from now on; for tests and GAPLESS_ISA.");
  m.def("core_count", core_count, "The cores that this process may use.");
  m.def("thread_count", thread_count, "The threads that a call may use.");
  m.def("limit_threads", limit_threads, nb::arg("most"), "Bound the threads of each call; 0 lifts the bound.");
  m.def("thread_limit", thread_limit, "The bound on the threads of each call; 0 where there is none.");
  m.def("limit_threads_here", limit_threads_here, nb::arg("most"),
        "Bound the threads of calls from this thread alone; 0 lifts the bound. Returns the bound before.");
  m.def("pretend_cores", pretend_cores, nb::arg("cores"), "For tests: another count of cores; 0 asks the system again.");
  m.def("cgroup_quota", cgroup_quota, nb::arg("root"), "For tests: the quota of cores that the control groups below a folder state.");
  m.def("share_calls", share_calls, nb::arg("pieces"), nb::arg("call"), "For tests: call(piece, thread) for each piece, by the pool.");
  m.def("share_times", share_times, nb::arg("pieces"), nb::arg("rounds"), nb::arg("work"), nb::arg("rest"),
        "For tests: the seconds of each of some shares of pieces that take `work` seconds, after `rest` seconds without one.");
  m.def(
      "dual_step",
      [](nb::object dual, Index i, double f, double beta, double q) {
        return std::visit([&](const auto& terms) { return terms.step(i, f, beta, q); }, dual_of(dual));
      },
      nb::arg("dual"), nb::arg("i"), nb::arg("f"), nb::arg("beta"), nb::arg("q"),
      "The β of one sample that maximises the dual along its coordinate, where f = (Kβ)ᵢ and q = Kᵢᵢ.");
  m.def(
      "dual_called",
      [](nb::object dual, Index i, double f) {
        return std::visit([&](const auto& terms) { return terms.called(i, f); }, dual_of(dual));
      },
      nb::arg("dual"), nb::arg("i"), nb::arg("f"), "−c ℓ′(y, f): the β that a decision value calls for.");
  m.def(
      "dual_slopes",
      [](nb::object dual, Index i, double beta) {
        return std::visit(
            [&](const auto& terms) { return std::make_tuple(terms.rise(i, beta), terms.fall(i, beta)); }, dual_of(dual));
      },
      nb::arg("dual"), nb::arg("i"), nb::arg("beta"), "The derivatives of a sample's dual term as its β rises, and falls.");
  m.def(
      "dual_pair",
      [](nb::object dual, Index i, Index j, double f_i, double f_j, double beta_i, double beta_j, double eta) {
        std::visit([&](const auto& terms) { terms.pair(i, j, f_i, f_j, beta_i, beta_j, eta); }, dual_of(dual));
        return std::make_tuple(beta_i, beta_j);
      },
      nb::arg("dual"), nb::arg("i"), nb::arg("j"), nb::arg("f_i"), nb::arg("f_j"), nb::arg("beta_i"), nb::arg("beta_j"),
      nb::arg("eta"), "Both β after the best rise of βᵢ and equal fall of βⱼ.");
}

}  // namespace gapless::bind
