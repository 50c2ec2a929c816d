/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mapped.h - notices when a process of this machine maps a file with code.
 *
 * perf_event_open(2) reports each such mapping on each CPU, for all processes. This needs the same
 * rights as uprobes. The processes are not stopped.
 *
 * Threads  one thread uses these functions.
 */
#ifndef POSIXTRACE_UPROBES_MAPPED_H
#define POSIXTRACE_UPROBES_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapped {
	/* a descriptor that becomes readable when there are new mappings; -1: not active */
	int wake;
	struct mapped_cpu {
		int fd;
		void *memory;
	} *cpu;
	size_t cpus;
};

/* A new mapping of a file with code. "path" is the path that the process sees. */
struct mapped_file {
	pid_t pid;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t inode;   /* 0: unknown */
	const char *path;
};

/*
 * Opens an event on each CPU. Returns 0 or an error number. The caller must call mapped_end() in
 * both cases.
 */
int mapped_begin(struct mapped *mapped);

/*
 * Passes each new mapping to take(), first all mappings of one CPU, then those of the next CPU.
 * Returns false if the kernel has dropped records. In this case the caller must find the mappings
 * of the processes in another way.
 */
bool mapped_look(struct mapped *mapped, void (*take)(void *arg, const struct mapped_file *file),
		 void *arg);
void mapped_end(struct mapped *mapped);

#endif
