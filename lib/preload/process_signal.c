/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process_signal.c - family process: a thread waits for a signal.
 *
 * The functions are cancellation points: the event of a cancelled wait has the error ECANCELED. If
 * a handler leaves pause() or sigsuspend() by siglongjmp(), there is no event.
 */
#include <signal.h>
#include <unistd.h>

#include "preload/call.h"
#include "preload/sender.h"

/* The fields of process.sigwait. The field `by` has the name of the function. */
struct sigwait_data {
	uint64_t time;
	int32_t error, signal, code, sender;
	char by[16];
};

/* Copies the kernel's details of a signal. */
static void take_info(struct sigwait_data *data, int signal, const siginfo_t *info)
{
	data->signal = signal;
	data->code = info->si_code;
	data->sender = shim_sender_of(signal, info);
}

/* The wrapper of a function that waits for a signal. finish_ is evaluated after the call. */
#define SIGWAIT(name, otherwise, params, args, finish_) \
	SHIM_BY(int, name, PROCESS_SIGWAIT, otherwise, params, args, true, sigwait_data, (void)0, \
		finish_)

/* A function that returns the signal, and its details if the program requests them. */
#define SIGWAIT_INFO(name, params, args) \
	SIGWAIT(name, shim_no_number, params, args, \
		data.error = result < 0 ? errno : 0; \
		if (result > 0) { \
			data.signal = result; \
			if (info) \
				take_info(&data, result, info); \
		})

SIGWAIT_INFO(sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))
SIGWAIT_INFO(sigtimedwait,
	     (const sigset_t *set, siginfo_t *info, const struct timespec *limit),
	     (set, info, limit))
/* sigwait() returns an error number, and the signal without its details. */
SIGWAIT(sigwait, shim_no_error, (const sigset_t *set, int *signal), (set, signal),
	data.error = result; if (!result) data.signal = *signal)
/*
 * When a handler has returned, these two functions return with EINTR. The event then has no error.
 */
SIGWAIT(pause, shim_no_number, (void), (), data.error = errno == EINTR ? 0 : errno)
SIGWAIT(sigsuspend, shim_no_number, (const sigset_t *mask), (mask),
	data.error = errno == EINTR ? 0 : errno)
