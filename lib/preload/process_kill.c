/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process_kill.c - family process: signals that are sent, and limits of resources.
 *
 * Each event is recorded after its call. A process that kills itself therefore does not record that
 * call. The process that waits for it records its status.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/resource.h>

#include "preload/call.h"

/* pid is the argument of kill(2): 0 and negative numbers are groups of processes. */
SHIM_INT(kill, PROCESS_KILL, (pid_t pid, int signal), (pid, signal), (pid, signal, 0), (0), ())
/* killpg() signals a group. As for kill(2), the event has the group as a negative number. */
SHIM_INT(killpg, PROCESS_KILL, (pid_t pid, int signal), (pid, signal), (-pid, signal, 0), (0), ())
/* tgkill() signals a thread of the process pid. */
SHIM_INT(tgkill, PROCESS_KILL, (pid_t pid, pid_t thread, int signal), (pid, thread, signal),
	 (pid, signal, thread), (0), ())
/* The value that accompanies the signal is not recorded. */
SHIM_INT(sigqueue, PROCESS_KILL, (pid_t pid, int signal, const union sigval value),
	 (pid, signal, value), (pid, signal, 0), (0), ())
/* raise(3) signals the calling thread. */
SHIM_TRACED(int, raise, PROCESS_KILL, shim_no_number, (int signal), (signal), result != 0,
	    (shim_pid(), signal, 0), ((int64_t)pthread_self()), ())

/* gsignal() is an old name of raise(). */
SHIM_TRACED(int, gsignal, PROCESS_KILL, shim_no_number, (int signal), (signal), result != 0,
	    (shim_pid(), signal, 0), ((int64_t)pthread_self()), ())
/* The next two functions signal a thread of this process. They return an error number. */
SHIM_ERROR(pthread_kill, PROCESS_KILL, (pthread_t thread, int signal), (thread, signal),
	   (shim_pid(), signal, 0), ((int64_t)thread), ())
SHIM_ERROR(pthread_sigqueue, PROCESS_KILL, (pthread_t thread, int signal, const union sigval value),
	   (thread, signal, value), (shim_pid(), signal, 0), ((int64_t)thread), ())

/*
 * The next functions make descriptors of processes, and send a signal by such a descriptor.
 * posixtrace dump shows a name for these descriptors, as for all descriptors that a recorded call
 * has made.
 */
SHIM_INT(pidfd_open, PROCESS_PIDFD, (pid_t pid, unsigned flags), (pid, flags),
	 (result, pid, (int32_t)flags), (), ())
/* A signal by a descriptor cannot reach a later process with the same number. */
SHIM_INT(pidfd_send_signal, PROCESS_PIDFD_KILL,
	 (int fd, int signal, siginfo_t *info, unsigned flags), (fd, signal, info, flags),
	 (fd, signal), (), ())
/*
 * fd is a copy of a descriptor of another process. The argument `of` is the descriptor's number in
 * that process.
 */
SHIM_INT(pidfd_getfd, PROCESS_PIDFD_GET, (int process, int of, unsigned flags),
	 (process, of, flags), (result, process, of), (), ())

/*
 * A member of the limit that a call has set or got. It is 0 after an error, because the limit may
 * then not be readable. getrlimit() and setrlimit() succeed with a null pointer, although the
 * header declares that it is not null. The assembly hides from the compiler that given_ is the
 * argument, so that the compiler keeps the check.
 */
#define LIMIT_MEMBER(limit_, member_) \
	({ \
		__typeof__(limit_) given_ = (limit_); \
		__asm__("" : "+r"(given_)); \
		result || !given_ ? 0 : (int64_t)given_->member_; \
	})

/* The members are read after the call: a limit that the call returns is not initialized before. */
#define LIMIT(name, type, set, qualifier) \
	SHIM_INT(name, PROCESS_LIMIT, \
		 (__rlimit_resource_t resource, qualifier struct type *limit), \
		 (resource, limit), (0, (int32_t)resource, set), \
		 (LIMIT_MEMBER(limit, rlim_cur), LIMIT_MEMBER(limit, rlim_max)), ())
/* Getting and setting have the same event type; the field `set` distinguishes them. */
LIMIT(getrlimit, rlimit, 0, )
LIMIT(getrlimit64, rlimit64, 0, )
LIMIT(setrlimit, rlimit, 1, const)
LIMIT(setrlimit64, rlimit64, 1, const)

/*
 * The event has the new limits if the program passes them, and otherwise the old limits. Both
 * pointers may be null.
 */
#define SHOWN(member) LIMIT_MEMBER(limit ? limit : old, member)

/* prlimit(2) of any process; pid 0 is the caller. */
#define PRLIMIT(name, type) \
	SHIM_INT(name, PROCESS_LIMIT, \
		 (pid_t pid, enum __rlimit_resource resource, const struct type *limit, \
		  struct type *old), \
		 (pid, resource, limit, old), (pid, (int32_t)resource, limit != NULL), \
		 (SHOWN(rlim_cur), SHOWN(rlim_max)), ())
PRLIMIT(prlimit, rlimit)
PRLIMIT(prlimit64, rlimit64)
