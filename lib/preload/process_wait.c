/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload/process_wait.c - family process: children are waited for. */
#include <sys/resource.h>
#include <sys/wait.h>

#include "preload/shim.h"

/* status is what the call tells of the child, if it is known: */
#define OF_A_CHILD 1

struct wait_data {
	uint64_t time;
	int32_t child, error;
	int32_t which;
	uint32_t options;
	int32_t status, known;
};

/* Status is stored where the caller wants it, or where only we see it. */
#define WAIT(name, params, args, which_, options_) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER pid_t name params \
	{ \
		if (!shim_on(PROCESS_WAIT)) \
			return next(name) args; \
		struct wait_data data = { \
			.child = -1, .error = ECANCELED, .which = (which_), \
			.options = (uint32_t)(options_) \
		}; \
		int own; \
		if (!status) \
			status = &own; \
		SHIM_CALL(PROCESS_WAIT, data); \
		data.child = next(name) args; \
		data.error = data.child < 0 ? errno : 0; \
		if (data.child > 0) { \
			data.status = *status; \
			data.known = OF_A_CHILD; \
		} \
		return data.child; \
	}

WAIT(wait, (int *status), (status), -1, 0)
WAIT(waitpid, (pid_t child, int *status, int options), (child, status, options), child, options)
WAIT(wait3, (int *status, int options, struct rusage *usage), (status, options, usage), -1, options)
WAIT(wait4, (pid_t child, int *status, int options, struct rusage *usage),
     (child, status, options, usage), child, options)

/* As waitpid() would have told it. */
static int status_of(const siginfo_t *info)
{
	switch (info->si_code) {
	case CLD_EXITED:
		return info->si_status << 8;
	case CLD_STOPPED:
	case CLD_TRAPPED:
		return info->si_status << 8 | 0x7f;
	case CLD_CONTINUED:
		return 0xffff;
	case CLD_DUMPED:
		return info->si_status | 0x80;
	}
	return info->si_status;
}

SHIM_NEXT(waitid, shim_no_number);

SHIM_WRAPPER int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	struct wait_data data = {
		.child = -1, .error = ECANCELED, .which = type == P_ALL ? -1 : (int32_t)id,
		.options = (uint32_t)options
	};
	siginfo_t own;
	int result;

	if (!shim_on(PROCESS_WAIT))
		return next(waitid)(type, id, info, options);
	own.si_pid = 0;
	SHIM_CALL(PROCESS_WAIT, data);
	result = next(waitid)(type, id, info ? info : &own, options);
	data.error = result < 0 ? errno : 0;
	if (result == 0) {
		const siginfo_t *told = info ? info : &own;

		data.child = told->si_pid;
		if (told->si_pid) {
			data.status = status_of(told);
			data.known = OF_A_CHILD;
		}
	}
	return result;
}
