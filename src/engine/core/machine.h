/* How much of this machine an engine may use if the caller does not say. */
#ifndef TMI_ENGINE_CORE_MACHINE_H
#define TMI_ENGINE_CORE_MACHINE_H

#include <stdint.h>

/* Three quarters of the memory that this process may have: the machine's, or less if a control group (a container, a job of a
 * batch system) or `ulimit -v` limits it. In bytes. */
uint64_t tmi_machine_memory(void);

/* What the machine could give a process now without writing memory to disk, in bytes: MemAvailable of /proc/meminfo. UINT64_MAX:
 * nobody knows. */
uint64_t tmi_free_memory(void);

/* The smallest limit of the control groups, of version 1 or 2, that a file like /proc/self/cgroup lists, and of those above them,
 * whose folders are under `root` (/sys/fs/cgroup). UINT64_MAX: none. */
uint64_t tmi_cgroup_memory(const char *list, const char *root);

/* The processors that this process may run on. At least 1. */
unsigned tmi_machine_threads(void);

#endif
