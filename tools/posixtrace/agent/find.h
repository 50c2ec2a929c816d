/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * find.h - finds the processes of this machine that a configuration names.
 *
 * The agent searches /proc at a low rate. It does not find a process that begins and ends between
 * two searches.
 */
#ifndef POSIXTRACE_AGENT_FIND_H
#define POSIXTRACE_AGENT_FIND_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/config.h"

/* A process and the program that it executes. */
struct found {
	pid_t pid;
	uint64_t start;			    /* clock ticks after boot; 0: not known */
	const struct config_record *record; /* the first section that names the process */
	char executable[PATH_MAX];
};

/*
 * Calls "visit" for each process that a section of the configuration names, except for the agent
 * itself and guardians. The agent may have no permission to read the program of some processes.
 * Stores the number of these processes in *hidden; a section may name some of them. If /proc cannot
 * be read, prints the reason and returns false.
 */
bool find_processes(const struct config *config,
		    void (*visit)(void *arg, const struct found *found), void *arg, size_t *hidden);

/*
 * Stores in *record the section that names this process now, or NULL. Returns false if a fact about
 * the process could not be read. In this case the section of the process is unknown.
 */
bool find_record(const struct config *config, pid_t pid, const struct config_record **record);

/*
 * Returns whether the process is linked with libposixtrace or has the shim. Only the events of such
 * a process can be recorded without an injection.
 */
bool find_uses_library(pid_t pid);

/*
 * Returns true if the process certainly lacks the library. Returns false if its mappings cannot be
 * read.
 */
bool find_lacks_library(pid_t pid);

/*
 * Returns the start time of a process in clock ticks after boot, or 0 if the process has ended or
 * its time cannot be read.
 */
uint64_t find_start(pid_t pid);

#endif
