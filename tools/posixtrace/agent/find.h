/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * find.h - the processes of this machine, and which of them a configuration names.
 *
 * /proc is read at a low rate. A process that begins and ends between two looks is not found.
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
	const struct config_record *record; /* the first section that names it */
	char executable[PATH_MAX];
};

/*
 * Calls visit for each process that a section of the configuration names, but for this one. Returns
 * false after it printed that /proc cannot be read.
 */
bool find_processes(const struct config *config,
		    void (*visit)(void *arg, const struct found *found), void *arg);

/*
 * Stores the section that names this process now, or NULL. Returns false if a fact about the
 * process could not be read, so that another section may name it.
 */
bool find_record(const struct config *config, pid_t pid, const struct config_record **record);

/*
 * Returns whether the process is linked with libposixtrace, or has the shim: only then can its
 * events be recorded without an injection.
 */
bool find_uses_library(pid_t pid);

/* Returns whether the process is known not to have the library. False if it cannot be read. */
bool find_lacks_library(pid_t pid);

/* Returns the start of a process, 0 if it has ended or cannot be read. */
uint64_t find_start(pid_t pid);

#endif
