/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent.h - the command agent: a service that keeps a flight recorder on each process that its
 * configuration names. When a trigger fires, it writes the content of flight recorders as logs.
 *
 * The agent has one thread, which sleeps in poll(). DESIGN explains which events survive if the
 * agent or a process is killed.
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

/* descriptors that must be free before a recording begins: for the recorder, logs and clients */
#define AGENT_DESCRIPTORS 32

/* The kinds of reasons why a process that the configuration names is not recorded. */
enum agent_refusal {
	AGENT_NO_LIBRARY,
	AGENT_NO_STREAM,
	AGENT_NO_DESCRIPTOR,
	AGENT_ERROR,
	AGENT_REFUSALS
};

/* The names of the reasons in the metrics. */
extern const char *const agent_refusal_name[AGENT_REFUSALS];

/* A process that could not be recorded. The agent tries again later. */
struct agent_refused {
	pid_t pid;
	uint64_t start;
	char *executable;
	char record[CONFIG_NAME_MAX + 1];
	enum agent_refusal why;
	char reason[RECORDER_REASON];
	int64_t wait_ns;	   /* the time between the next two attempts */
	int64_t again_ns;	   /* time of the next attempt, by CLOCK_MONOTONIC */
	int64_t said_ns;	   /* when the reason was printed; 0: never */
	uint64_t search;	   /* the last search that found the process */
};

/* The end of a recording whose process lives. */
struct agent_end {
	pid_t pid;
	uint64_t start;
	int64_t ms; /* since 1970 */
};

/*
 * The state of a trigger for a section: the time of its last attempt to write a log, the number of
 * logs that were held off since the last written log, and the numbers of all logs that were
 * written, held off, or could not be written. For a trigger "every", last_ns is the time at which
 * its last log was due, or the time at which the agent began or read the trigger.
 */
struct agent_fired {
	char trigger[CONFIG_NAME_MAX + 1], record[CONFIG_NAME_MAX + 1];
	int64_t last_ns; /* CLOCK_MONOTONIC */
	bool has_fired, has_failed; /* has_failed: the last log could not be written */
	uint64_t logs, held_off, held_off_since, failed;
	int64_t said_ns; /* when the reason of a failure was printed; 0: not since the last log */
};

struct agent {
	const char *path; /* path of the configuration */
	struct config *config;
	struct store store;
	struct recorder **recorder;
	size_t recorders;
	struct agent_refused *refused;
	size_t refuseds;
	struct agent_end *end;
	size_t ends_noted;
	uint64_t searches; /* the number of searches for processes */
	size_t hidden;	   /* processes that the last search could not examine */
	/* During this search a process has found no free stream, or no free descriptors. */
	bool lacks_streams, lacks_descriptors;
	struct agent_fired *fired;
	size_t fireds;
	bool has_leftovers;	     /* flight/ may have logs that no recorder uses */
	/* times of the beginning of the agent and of the next search, by CLOCK_MONOTONIC */
	int64_t begin_ns, search_ns;
	int64_t budget_ns;	     /* time of the next check of budgets, by CLOCK_MONOTONIC */
	int64_t read_ns;	     /* time of the next reading of watches, by CLOCK_MONOTONIC */
	int64_t due_ns;		     /* time of the next agent_write_due(), by CLOCK_MONOTONIC */
	int64_t began;		     /* the beginning of the agent in seconds since 1970 */
	struct metrics metrics;
	struct until signals;
	int control; /* the socket; -1: none */
	bool has_freed; /* a recorder has ended since the last search */
	bool keeps_waiting; /* no client is accepted before the next search */
	bool has_said_waiting; /* no client was served since the message about waiting clients */
	bool ends, reexecutes;
};

/* In agent_run.c: runs the service until a signal ends it. Returns an exit status. */
int agent_serve(const char *path);

/* In agent_check.c: prints what the configuration would record now. Returns an exit status. */
int agent_check(const char *path);

/* In agent_fire.c: the triggers. */

/*
 * Begins the counts of all sections and triggers of the configuration with 0, so that the metrics
 * have them before the first process and the first log.
 */
void agent_begin_counts(struct agent *agent);

/*
 * Ends a recorder whose process has ended. If a trigger fires and is not held off, keeps the log of
 * the recorder.
 */
void agent_process_ended(struct agent *agent, size_t index, const struct ended *ended);

/* Reads the watches of all recorders, and writes the logs of triggers that fire. */
void agent_read_watches(struct agent *agent);

/*
 * Writes the logs of triggers "every TIME" that are due, and sets the time for the next ones. For
 * the first log, the time begins when the agent begins, or when it reads the new trigger.
 */
void agent_write_due(struct agent *agent);

/* Ends a recorder for another reason than the end of its process. Keeps the log of the recorder. */
void agent_end_recorder(struct agent *agent, size_t index, const char *trigger, const char *reason);

/*
 * Ends all recorders, whose files in flight/ were removed, and keeps their events. The next search
 * makes new recorders.
 */
void agent_lost_flight(struct agent *agent);

/*
 * "name" is a pattern for names of sections, or the number of a process. The function writes a log
 * of each recorder that "name" selects. The log has the events of the last last_ns nanoseconds, or
 * all events if last_ns is 0. If "answer" is not NULL, writes the path of each log to it as a line.
 * Returns the number of logs that were written, and stores the number of selected recorders in
 * *matched.
 */
size_t agent_snapshot(struct agent *agent, const char *name, const char *trigger,
		      const char *why, int64_t last_ns, FILE *answer, size_t *matched);

/*
 * In agent_leftover.c: moves the logs in flight/ that no recorder uses to logs/. An incomplete log
 * remains in flight/ for the first minute of the agent. Removes incomplete snapshots. Sets
 * has_leftovers if a log remains.
 */
void agent_leftovers(struct agent *agent);

/*
 * Returns the time in milliseconds since an earlier recording of this process ended, by this agent
 * or by an earlier one. Returns -1 if the process was not recorded before, or if an earlier stream
 * still runs. Removes the notes of agent_note_end() about the process.
 */
int64_t agent_gap_ms(struct agent *agent, const struct found *found);
/*
 * Notes that a recording ends now, or ended at a time in milliseconds since 1970, while its process
 * lives. agent_gap_ms() uses the note for the next recording of the process.
 */
void agent_note_end(struct agent *agent, pid_t pid, uint64_t start, int64_t ms);
/* Forgets the notes of processes that have ended. */
void agent_forget_ends(struct agent *agent);

/* In agent_refused.c: the processes that are not recorded. */

/*
 * Notes that the process found by this search could not be recorded. Prints a new reason at most
 * once a minute for each process, but no reason AGENT_NO_LIBRARY. If several processes of a search
 * lack a stream or a descriptor, only the reason of the first is printed.
 */
void agent_note_refused(struct agent *agent, const struct found *found, enum agent_refusal why,
			const char *reason);
/*
 * Returns whether the agent must not try to record the process now: the time of the next attempt
 * has not arrived yet, or the process lacks a stream or a descriptor, and this search has found
 * that there is none.
 */
bool agent_must_wait(struct agent *agent, const struct found *found);
/* Forgets the refusal of a process that is recorded now. */
void agent_forget_recorded(struct agent *agent, const struct found *found);
/* Forgets all refused processes if "all" is true, otherwise those that the last search missed. */
void agent_forget_refused(struct agent *agent, bool all);

/* Stores the reason why a process is not recorded or watched if the user has no stream left. */
void agent_no_stream(char reason[RECORDER_REASON], pid_t pid);
/*
 * Returns whether enough descriptors are free to record one more process. If recorders used the
 * last descriptors, the agent could not write logs.
 */
bool agent_has_descriptors(const struct agent *agent);
/*
 * For a message that is printed at most once a minute: returns whether the caller must print it
 * now, and then stores the current time in *said_ns. *said_ns is 0 before the first message.
 */
bool agent_is_due(int64_t *said_ns);
/* Replaces the line ends in kept messages (say.h) by semicolons and blanks. Returns the text. */
char *agent_one_line(char messages[RECORDER_REASON]);

/* In agent_watch.c: the watches of recorders. */

/*
 * Begins, renews or ends the watch of a recorder, as the configuration of the agent requires. If
 * the watch cannot begin, notes the reason in the recorder, and prints a new reason.
 */
void agent_watch(struct agent *agent, struct recorder *recorder);
/* Tries again to begin the watches that could not begin. */
void agent_watch_again(struct agent *agent);

/* In agent_control.c: the socket by which agent --snapshot and --status speak to the agent. */
int agent_control_open(struct agent *agent);
void agent_control_close(struct agent *agent);
/* Returns whether the name of the socket was removed, so that no client can find the socket. */
bool agent_control_is_lost(const struct agent *agent);
void agent_control_serve(struct agent *agent);

/*
 * Accepts a client at one of the two sockets. Returns the descriptor of the connection, or -1. If
 * the process or the system has no free descriptor, prints a message and sets keeps_waiting.
 */
int agent_accept(struct agent *agent, int listener);

/*
 * The client's side: sends a request to the running agent, and prints the answer. Returns an exit
 * status.
 */
int agent_control_request(const char *path, const char *request);

#endif
