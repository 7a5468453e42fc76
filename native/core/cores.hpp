// How many cores this process may use.
#pragma once

#include <string>

namespace gapless {

// The number of cores in the scheduler's mask (affinity), or a container's quota of processor time, rounded up, where that is less; at least 1.
int usable_cores();

// The least quota, in cores, of the control groups (versions 1 and 2) that this process is in; infinity where there is none. It is read from
// root/proc/self/cgroup and root/sys/fs/cgroup; `root` is empty, except in tests.
double cgroup_quota(const std::string& root);

}  // namespace gapless
