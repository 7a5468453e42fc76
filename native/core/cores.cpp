#include "core/cores.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace gapless {
namespace {

constexpr double no_quota = std::numeric_limits<double>::infinity();

// Control groups of version 2 have one file, "quota period", or "max period" where there is no quota.
double quota_v2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  std::string quota;
  double period = 0.0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0.0) return no_quota;
  std::istringstream digits(quota);
  double time = 0.0;
  return digits >> time && time > 0.0 ? time / period : no_quota;
}

// Control groups of version 1 have a file for the quota, −1 where there is none, and one for the period.
double quota_v1(const std::string& folder) {
  std::ifstream quota(folder + "/cpu.cfs_quota_us"), period(folder + "/cpu.cfs_period_us");
  double time = 0.0, of = 0.0;
  return quota >> time && period >> of && time > 0.0 && of > 0.0 ? time / of : no_quota;
}

// The least quota of the group at `path` and of the groups above it, which bind it too. Inside a container the path may name folders that are not
// mounted; such folders have no quota.
template <class Quota>
double least(const std::string& mount, std::string path, Quota quota) {
  double out = quota(mount);
  while (path.size() > 1) {
    out = std::min(out, quota(mount + path));
    path.resize(path.rfind('/'));
  }
  return out;
}

}  // namespace

double cgroup_quota(const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream file(root + "/proc/self/cgroup");
  double out = no_quota;
  for (std::string line; std::getline(file, line);) {  // "hierarchy:controllers:path"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string path = line.substr(second + 1);
    std::string controllers(1, ',');
    controllers.append(line, first + 1, second - first - 1).push_back(',');
    if (path.empty() || path[0] != '/') continue;
    if (controllers == ",,") {
      out = std::min(out, least(mount, path, quota_v2));
    } else if (controllers.find(",cpu,") != std::string::npos) {
      out = std::min(out, least(mount + "/cpu", path, quota_v1));
      out = std::min(out, least(mount + "/cpu,cpuacct", path, quota_v1));
    }
  }
  return out;
}

int usable_cores() {
  int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#ifdef __linux__
  cpu_set_t mask;  // has room for 1024 cores; on a larger machine the call fails, and the count above stays
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) cores = std::max(1, CPU_COUNT(&mask));
  const double quota = cgroup_quota("");
  if (quota < cores) cores = std::max(1, static_cast<int>(std::ceil(quota)));
#endif
  return cores;
}

}  // namespace gapless
