/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent.h - the command agent: a service that keeps flight recorders on the processes that its
 * configuration names, and writes their content as logs when a trigger fires.
 *
 * The agent has one thread, which sleeps in poll(). DESIGN has the argument for what survives a
 * kill of the agent or of a process.
 */
#ifndef POSIXTRACE_AGENT_AGENT_H
#define POSIXTRACE_AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/config.h"
#include "agent/metrics.h"
#include "agent/recorder.h"
#include "agent/store.h"
#include "base/until.h"

/* A process that could not be recorded. It is tried again later, in growing intervals. */
struct agent_failure {
	pid_t pid;
	uint64_t start;
	char *executable;
	int64_t wait_ns, again_ns; /* CLOCK_MONOTONIC */
};

/* The last log of a trigger and a section, and the number of logs that were held off since then. */
struct agent_fired {
	char trigger[CONFIG_NAME_MAX + 1], record[CONFIG_NAME_MAX + 1];
	int64_t last_ns; /* CLOCK_MONOTONIC */
	bool has_fired, has_failed; /* has_failed: the last log was not written */
	uint64_t logs, held_off, held_off_since;
};

struct agent {
	const char *path; /* of the configuration */
	struct config *config;
	struct store store;
	struct recorder **recorder;
	size_t recorders;
	struct agent_failure *failure;
	size_t failures;
	struct agent_fired *fired;
	size_t fireds;
	bool has_leftovers;	     /* flight/ has logs of an agent before this one */
	int64_t begin_ns, search_ns; /* CLOCK_MONOTONIC: begin, and next search */
	int64_t read_ns;	     /* CLOCK_MONOTONIC: when watches are read next */
	int64_t began;		     /* seconds since 1970 */
	struct metrics metrics;
	struct until signals;
	int control; /* the socket; -1: none */
	bool keeps_waiting; /* no client is accepted before the next search */
	bool ends, hands_over;
};

/* In agent_run.c: the whole life of the agent. Returns an exit status. */
int agent_serve(const char *path);

/* In agent_check.c: prints what the configuration would record now. Returns an exit status. */
int agent_check(const char *path);

/* In agent_fire.c: triggers. */

/*
 * Ends a recorder whose process has ended, and keeps its log if a trigger asks for that and is not
 * held off.
 */
void agent_process_ended(struct agent *agent, size_t index, const struct ended *ended);

/* Reads the watches of all recorders, and writes the logs of triggers that fire. */
void agent_read_watches(struct agent *agent);

/* Ends a recorder for another reason. Its log is kept. */
void agent_end_recorder(struct agent *agent, size_t index, const char *trigger, const char *reason);

/*
 * Writes logs of the recorders whose section matches name, or whose process has this number. Writes
 * the path of each log to answer as a line, unless answer is NULL. Returns the number of logs;
 * *matched is the number of recorders.
 */
size_t agent_snapshot(struct agent *agent, const char *name, const char *trigger,
		      const char *reason, FILE *answer, size_t *matched);

/* In agent_leftover.c: moves the complete logs of an agent that was killed to logs/. */
void agent_leftovers(struct agent *agent);

/*
 * Returns for how long nothing has recorded this process, in milliseconds, because the stream of an
 * earlier agent has ended already. -1: there was none, or it still runs. To be called before
 * agent_leftovers() moves the logs.
 */
int64_t agent_gap_ms(const struct agent *agent, const struct found *found);

/* In agent_control.c: the socket by which agent --snapshot and --status speak to the agent. */
int agent_control_open(struct agent *agent);
void agent_control_close(struct agent *agent);
void agent_control_serve(struct agent *agent);

/*
 * Accepts a client of one of the two sockets. Returns its descriptor, or -1. If there is no
 * descriptor for it, prints a message and sets keeps_waiting.
 */
int agent_accept(struct agent *agent, int listener);

/* The client: sends a request, and prints the answer. Returns an exit status. */
int agent_control_ask(const char *path, const char *request);

#endif
