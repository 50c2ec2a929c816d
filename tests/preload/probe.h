/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload/probe.h - the calls that probe can make, by family. */
#ifndef PRELOAD_PROBE_H
#define PRELOAD_PROBE_H

struct probe {
	const char *name;
	int (*run)(int argc, char **argv);
};

/* Each array ends with a null name. */
extern const struct probe probes_alloc[], probes_c11[], probes_calls[], probes_confine[],
	probes_content[], probes_context[], probes_dl[], probes_file[], probes_func[], probes_io[],
	probes_ipc[], probes_lock[], probes_net[], probes_process[], probes_signal[],
	probes_stack[], probes_thread[], probes_wide[];

void probe_fail(const char *file, int line, const char *what) __attribute__((noreturn));

/* Waits until a thread has stored its number in *tid, which was 0, and sleeps in the kernel. */
void probe_until_waiting(const _Atomic int *tid);

#define MUST(condition) \
	do { \
		if (!(condition)) \
			probe_fail(__FILE__, __LINE__, #condition); \
	} while (0)

#endif
