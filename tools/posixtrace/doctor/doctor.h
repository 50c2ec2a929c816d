/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* doctor.h - examines the requirements of tracing, and makes a finding about each of them. */
#ifndef POSIXTRACE_DOCTOR_DOCTOR_H
#define POSIXTRACE_DOCTOR_DOCTOR_H

#include <sys/types.h>

#define DOCTOR_TEXT_BYTES 256

/* The advice if /proc is not mounted. */
#define DOCTOR_MOUNT_PROC "mount it: mount -t proc proc /proc"

/* The verdict of one requirement, from the best to the worst. */
enum doctor_verdict {
	DOCTOR_WORKS,
	DOCTOR_UNKNOWN, /* doctor cannot find the answer */
	DOCTOR_LIMITED, /* some features are not available; the others work */
	DOCTOR_FAILS    /* without this requirement no trace is possible */
};

struct doctor_finding {
	const char *name;              /* name of the requirement: one or two words */
	enum doctor_verdict verdict;
	char fact[DOCTOR_TEXT_BYTES];  /* what was found */
	char advice[DOCTOR_TEXT_BYTES]; /* what the user can do; empty: nothing */
};

/* Receives a finding. The finding exists during the call only. */
typedef void doctor_report(const struct doctor_finding *finding);

/*
 * Examines this machine and the conditions under which this process runs. It creates a stream of
 * this process and a log in memory, and removes both.
 */
void doctor_machine(doctor_report *report);

/* Examines a process without stopping or changing it. */
void doctor_process(pid_t pid, doctor_report *report);

/* Prints into the texts of a finding and reports it. "advice" may be NULL. */
void doctor_say(doctor_report *report, const char *name, enum doctor_verdict verdict,
		const char *advice, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * Tries whether perf_event_open(2) works for the process. record --sched and --sample use this
 * call. Returns 0 or an error number.
 */
int doctor_try_perf(pid_t pid);

#endif
