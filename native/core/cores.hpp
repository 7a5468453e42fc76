// How many cores this process may use.
#pragma once

#include <string>

namespace gapless {

// Cores of the scheduler's mask (affinity), no more than a container's quota of processor time rounded up; at least 1.
int usable_cores();

// The least quota of the control groups (versions 1 and 2) that this process is in, in cores; infinity where there is none. Files are read
// below `root`, which is empty but in tests: root/proc/self/cgroup and root/sys/fs/cgroup.
double cgroup_quota(const std::string& root);

}  // namespace gapless
