/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * failures.h - processes that crashed, were killed or exited with an error, and the calls that
 * failed before. The user of such a log asks first why the program failed, not why it took long.
 */
#ifndef POSIXTRACE_WHY_FAILURES_H
#define POSIXTRACE_WHY_FAILURES_H

#include "base/table.h"
#include "why/history.h"

#define FAILURES_CALLS  4 /* the last failed calls of a process that are kept */
#define FAILURES_CONNECTS 8 /* the last connections of a process that are kept */
#define FAILURES_FRAMES 80 /* the frames of a crashed thread that are kept */
#define FAILURES_REPEATS 8 /* the functions with several frames that are kept */

struct failures {
	struct failures_process {
		pid_t pid, parent; /* parent: 0: unknown */
		uint32_t life, parent_life; /* see why/lives.h */
		/* the log shows how the process ended: 'code' and 'signal' are valid */
		bool is_over;
		int32_t code, signal;
		/*
		 * the time of the process's own event of its end. If there is none: the time of the
		 * event by which its parent or the recorder recorded the end; 0: none
		 */
		int64_t ended_ns;
		/*
		 * connects that were not complete when they returned; a later call returned the
		 * result
		 */
		struct failures_connect {
			int32_t fd;
			uint32_t text;
			const struct log_type *type;
		} connect[FAILURES_CONNECTS];
		unsigned connects; /* number of all that were kept; 'connect' has the last
				    * FAILURES_CONNECTS */
		/*
		 * of the signal that the recorder saw last: its name, its code, the process that
		 * sent it (0: none), and the name of this process
		 */
		bool has_sender;
		int32_t sender_code;
		pid_t sender;
		uint32_t sent, sender_name; /* texts */
		uint32_t executes; /* index of the path of its last exec in history.text + 1; 0:
				    * none */
		unsigned calls;    /* number of all that were kept; 'call' has the last
				    * FAILURES_CALLS */
		struct failures_call {
			const struct log_type *type;
			int64_t time_ns;
			uint64_t address;
			uint32_t text; /* index of the path in history.text + 1; 0: none */
			int32_t error;
		} call[FAILURES_CALLS];
	} *process;
	size_t processes;
	struct table of_process;
	struct failures_crash {    /* of crash.signal, crash.frame and crash.repeat */
		pid_t pid, tid;
		uint32_t life;
		int64_t time_ns;
		uint64_t fault;    /* the address of a memory access; 0: none */
		uint32_t signal, reason, message; /* texts */
		/*
		 * the signal whose handler sent this one, and the number of the frame that the
		 * handler interrupted
		 */
		uint32_t handler;
		int64_t first;
		/*
		 * the innermost frames, and behind them the outermost ones: numbers between them
		 * may be missing
		 */
		unsigned frames;
		struct failures_frame {
			uint64_t pc;
			int64_t number;
			uint32_t function, module; /* texts */
		} frame[FAILURES_FRAMES];
		/* functions with several frames, the one with the most first */
		unsigned repeats;
		bool is_cut;       /* there are more frames than the counted ones */
		struct failures_repeat {
			uint64_t pc, times;
			uint32_t function, module;
		} repeat[FAILURES_REPEATS];
	} *crash;
	size_t crashes;
};

/*
 * Keeps the facts of an event. The event must have been added to the history before. If memory is
 * lacking, history->err is set.
 */
void failures_take(struct failures *failures, struct history *history,
		   const struct reading *reading);
void failures_fini(struct failures *failures);

/*
 * Returns the failed process with the pid and life of a thread. Returns NULL if the process did not
 * end, if it exited with 0, or if the log does not show how it ended.
 */
const struct failures_process *failures_of(const struct failures *failures, pid_t pid,
					   uint32_t life);

/*
 * Returns the last child that failed before its failed parent, or NULL. A shell or make fails
 * because a child failed.
 */
const struct failures_process *failures_child(const struct failures *failures,
					      const struct failures_process *parent);

/*
 * Returns the last process that failed after its parent had ended, such as a daemon, or NULL. No
 * other process learns of such a failure.
 */
const struct failures_process *failures_orphan(const struct failures *failures);

/* Returns whether the log has the crash that ended a process. */
bool failures_has_crash(const struct failures *failures, const struct failures_process *process);

/* Returns whether a signal usually shows a fault of the program itself, such as SIGSEGV. */
bool failures_is_crash(int32_t signal);

#endif
