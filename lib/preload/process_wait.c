/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process_wait.c - family process: a process waits for its children.
 *
 * All functions record process.wait, and also posixtrace_ended if the child has ended. The field
 * "which" of process.wait has the process that the call waits for: -1 for any process, otherwise
 * the argument of the call.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include "preload/shim.h"
#include "preload/status.h"

/*
 * The value of the field `known` if `status` is valid. A call with WNOHANG may return without a
 * child.
 */
#define OF_A_CHILD 1

/*
 * The fields of process.wait, in the order of its schema. `status` is valid only if `known` is 1.
 * Otherwise it is -1, which is not a possible status.
 */
struct wait_data {
	uint64_t time;
	/* `child` is the process that was found; 0: none yet (WNOHANG); -1: an error. */
	int32_t child, error;
	int32_t which;
	uint32_t options;
	int32_t status, known;
};

/*
 * Records the end of a child, unless the status reports a stop or a continuation.
 *
 * A child cannot record its own status: a signal may end it at any time. The kernel reports the
 * status only to the parent, and only once.
 */
static void put_ended(pid_t child, int status, const void *caller)
{
	unsigned char data[SHIM_STATUS_DATA];

	if (*shim_switch[PROCESS_ENDED] && (WIFEXITED(status) || WIFSIGNALED(status)))
		shim_put(PROCESS_ENDED, data, shim_status_data(data, child, true, status), caller);
}

/*
 * The wrapper of a function that returns the status by a pointer. If the program passes NULL, the
 * wrapper provides memory, because the event has the status in any case.
 */
#define WAIT(name, params, args, which_, options_) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER pid_t name params \
	{ \
		if (!shim_on(PROCESS_WAIT)) \
			return next(name) args; \
		struct wait_data data = { \
			.child = -1, .error = ECANCELED, .status = -1, .which = (which_), \
			.options = (uint32_t)(options_) \
		}; \
		/* Memory for the status, in the wrapper's frame. */ \
		int own; \
		if (!status) \
			status = &own; \
		/* The event's duration is how long the process waited. */ \
		SHIM_CALL(PROCESS_WAIT, data); \
		data.child = next(name) args; \
		data.error = data.child < 0 ? errno : 0; \
		if (data.child > 0) { \
			/* \
			 * The status is read only if there is a child: with WNOHANG the call may \
			 * return 0 and store no status. \
			 */ \
			data.status = *status; \
			data.known = OF_A_CHILD; \
			put_ended(data.child, data.status, shim_caller()); \
		} \
		return data.child; \
	}

/* wait() is waitpid() for any child, without options. */
WAIT(wait, (int *status), (status), -1, 0)
WAIT(waitpid, (pid_t child, int *status, int options), (child, status, options), child, options)
SHIM_ALIAS(__wait, wait);
SHIM_ALIAS(__waitpid, waitpid);
/* wait3() and wait4() also return the use of resources, which is not recorded. */
WAIT(wait3, (int *status, int options, struct rusage *usage), (status, options, usage), -1, options)
WAIT(wait4, (pid_t child, int *status, int options, struct rusage *usage),
     (child, status, options, usage), child, options)

/* Converts the answer of waitid() to a status as waitpid() returns it. */
static int status_of(const siginfo_t *info)
{
	/* The codes of siginfo_t and the bits of a status describe the same events. */
	switch (info->si_code) {
	case CLD_EXITED:
		/* The status of waitpid() has the exit code in its second byte. */
		return info->si_status << 8;
	/* A stopped child has 0x7f instead of a signal, and the signal in the second byte. */
	case CLD_STOPPED:
	case CLD_TRAPPED:
		return info->si_status << 8 | 0x7f;
	case CLD_CONTINUED:
		return 0xffff;
	case CLD_DUMPED:
		/* A core dump is one bit beside the signal. */
		return info->si_status | 0x80;
	}
	/* For CLD_KILLED, the status of waitpid() is the signal alone. */
	return info->si_status;
}

SHIM_NEXT(waitid, shim_no_number);

/* waitid(2). With WNOHANG it may return 0 without a child; si_pid is then 0. */
SHIM_WRAPPER int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	/* The field "which" has the argument `id` for P_PID, P_PGID and P_PIDFD. */
	struct wait_data data = {
		.child = -1, .error = ECANCELED, .status = -1,
		.which = type == P_ALL ? -1 : (int32_t)id, .options = (uint32_t)options
	};
	/* Memory for the answer if the program passes NULL. */
	siginfo_t own;
	int result;

	if (!shim_on(PROCESS_WAIT))
		return next(waitid)(type, id, info, options);
	/* si_pid must be defined also if the call finds no child. */
	own.si_pid = 0;
	SHIM_CALL(PROCESS_WAIT, data);
	result = next(waitid)(type, id, info ? info : &own, options);
	data.error = result < 0 ? errno : 0;
	if (result == 0) {
		/* The program may pass NULL as `info`. */
		const siginfo_t *answer = info ? info : &own;

		data.child = answer->si_pid;
		if (answer->si_pid) {
			data.status = status_of(answer);
			data.known = OF_A_CHILD;
			/* With WNOWAIT the child remains, and another call returns it again. */
			if (!(options & WNOWAIT))
				put_ended(data.child, data.status, shim_caller());
		}
	}
	return result;
}
