/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process_kill.c - family process: signals that are sent, descriptors of processes, and
 * limits of resources.
 *
 * Each event is recorded after its call. If a signal may end the caller, the call may never return.
 * So an event is recorded before such a call, too.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/call.h"
#include "preload/proc_number.h"
#include "preload/process.h"
#include "preload/self.h"
#include "preload/status.h"

/*
 * Returns whether the signal may end the caller, as a member of `to`: the argument of kill(2). A
 * process that calls kill(-1) is not a member. The function makes at most two system calls, and
 * none if the signal's default action does not end a process. In a quiet process it makes none, and
 * returns false if it would need one.
 */
static bool may_end_caller(pid_t to, int signal)
{
	struct sigaction action;
	int saved = errno;
	bool may_end;

	switch (signal) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return false;
	default:
		break;
	}
	if (signal <= 0 || signal >= NSIG || to == -1 ||
	    (to != 0 && to != shim_pid() &&
	     (to > 0 || shim_is_quiet() || to != -getpgrp())))
		return false;
	may_end = signal == SIGKILL ||
		  (!shim_is_quiet() && !sigaction(signal, NULL, &action) &&
		   action.sa_handler == SIG_DFL);
	errno = saved;
	return may_end;
}

/*
 * Records a signal that may end the caller, before the call. The caller may block the signal, so
 * the call may return, and then leaves another event.
 */
static void put_kill(int32_t pid, int32_t signal, int32_t tid, uint64_t thread, const void *caller)
{
	const struct {
		uint64_t time;
		int32_t error, pid, signal, tid;
		uint64_t thread;
	} data = { .pid = pid, .signal = signal, .tid = tid, .thread = thread };

	shim_put(PROCESS_KILL, &data, sizeof data, caller);
}

/*
 * The wrapper of a function that sends a signal. `to` and `signal_` are the arguments of kill(2)
 * for the same receivers; pid, tid and thread are the fields of the event.
 */
#define KILL(name, otherwise, params, args, error_, to, signal_, pid_, tid_, thread_) \
	SHIM_NEXT(name, otherwise); \
	SHIM_WRAPPED(name, PROCESS_KILL); \
	SHIM_WRAPPER int name params \
	{ \
		if (!shim_on_alone(PROCESS_KILL)) \
			return next(name) args; \
		if (may_end_caller(to, signal_)) \
			put_kill(pid_, signal_, tid_, (uint64_t)(thread_), shim_caller()); \
		SHIM_TRACE(int, PROCESS_KILL, next(name) args, error_, (pid_, signal_, tid_), \
			   ((int64_t)(thread_)), ()); \
	}

/* pid is the argument of kill(2): 0 and negative numbers are groups of processes. */
KILL(kill, shim_no_number, (pid_t pid, int signal), (pid, signal), result == -1 ? errno : 0,
     pid, signal, pid, 0, 0)
/*
 * killpg() signals a group, and its own group if `pid` is 0. As for kill(2), the event has the
 * group as a negative number.
 */
KILL(killpg, shim_no_number, (pid_t pid, int signal), (pid, signal), result == -1 ? errno : 0,
     pid > 0 ? -pid : pid < 0 ? -1 : 0, signal, -pid, 0, 0)
/* tgkill() signals a thread of the process pid. The signal ends the whole process. */
KILL(tgkill, shim_no_number, (pid_t pid, pid_t thread, int signal), (pid, thread, signal),
     result == -1 ? errno : 0, pid > 0 ? pid : -1, signal, pid, thread, 0)
/* The value that accompanies the signal is not recorded. */
KILL(sigqueue, shim_no_number, (pid_t pid, int signal, const union sigval value),
     (pid, signal, value), result == -1 ? errno : 0, pid > 0 ? pid : -1, signal, pid, 0, 0)
/* raise(3) signals the calling thread. */
KILL(raise, shim_no_number, (int signal), (signal), result != 0 ? errno : 0, 0, signal, shim_pid(),
     0, pthread_self())
/* gsignal() is an old name of raise(). */
KILL(gsignal, shim_no_number, (int signal), (signal), result != 0 ? errno : 0, 0, signal,
     shim_pid(), 0, pthread_self())
/* The next two functions signal a thread of this process. They return an error number. */
KILL(pthread_kill, shim_no_error, (pthread_t thread, int signal), (thread, signal), result, 0,
     signal, shim_pid(), 0, thread)
KILL(pthread_sigqueue, shim_no_error, (pthread_t thread, int signal, const union sigval value),
     (thread, signal, value), result, 0, signal, shim_pid(), 0, thread)

/*
 * The next functions make descriptors of processes, and send a signal by such a descriptor.
 * posixtrace dump shows a name for these descriptors, as for all descriptors that a recorded call
 * has made.
 */
SHIM_INT(pidfd_open, PROCESS_PIDFD, (pid_t pid, unsigned flags), (pid, flags),
	 (result, pid, (int32_t)flags), (), ())

/*
 * Numbers that name the calling thread or its process in place of a descriptor, since Linux 6.14.
 * Later versions have another number for the process. No version uses one of the three numbers for
 * anything else.
 */
#define SELF_THREAD       (-10000)
#define SELF_PROCESS      (-10001)
#define SELF_PROCESS_6_14 (-20000)
/* The signal is for the group of processes whose leader the descriptor names, since Linux 6.9. */
#define SIGNAL_GROUP (1u << 2)

/*
 * Returns the id of the process or thread that the descriptor names, or -1 if it names none or the
 * id cannot be read. The kernel shows the id in a file.
 */
static long named_by(int fd)
{
	static const char folder[] = "/proc/thread-self/fdinfo/";
	char path[sizeof folder + 12];

	if (fd == SELF_THREAD)
		return syscall(SYS_gettid);
	if (fd == SELF_PROCESS || fd == SELF_PROCESS_6_14)
		return shim_pid();
	if (fd < 0)
		return -1;
	memcpy(path, folder, sizeof folder);
	shim_add_number(path + sizeof folder - 1, (unsigned)fd);
	return shim_proc_number(path, "\nPid:\t");
}

/*
 * Returns whether the signal may end the caller, if it is sent by this descriptor. A signal that
 * ends a thread ends its whole process. The system calls that find out whom the descriptor names
 * are made only for a signal that would end the caller.
 */
static bool may_end_by(int fd, int signal, unsigned flags)
{
	const int saved = errno;
	bool is_own;
	long id;

	if (shim_is_quiet() || !may_end_caller(0, signal))
		return false;
	id = named_by(fd);
	if (flags & SIGNAL_GROUP)
		is_own = id == getpgrp();
	else
		is_own = id == shim_pid() ||
			 (id > 0 && syscall(SYS_tgkill, shim_pid(), (int)id, 0) == 0);
	errno = saved;
	return is_own;
}

int shim_pidfd_id(int fd)
{
	const int saved = errno;
	/* A quiet process must not read the file. */
	const long id = shim_is_quiet() ? -1 : named_by(fd);

	errno = saved;
	return (int)id;
}

void shim_pidfd_kills(int fd, int signal, unsigned flags, const void *caller)
{
	const struct {
		uint64_t time;
		int32_t error, fd, signal;
		int32_t padding;
	} data = { .fd = fd, .signal = signal };

	if (may_end_by(fd, signal, flags))
		shim_put(PROCESS_PIDFD_KILL, &data, offsetof(__typeof__(data), padding), caller);
}

SHIM_NEXT(pidfd_send_signal, shim_no_number);
SHIM_WRAPPED(pidfd_send_signal, PROCESS_PIDFD_KILL);

/*
 * pidfd_send_signal(2). A signal by a descriptor cannot reach a later process with the same number.
 */
SHIM_WRAPPER int pidfd_send_signal(int fd, int signal, siginfo_t *info, unsigned flags)
{
	if (!shim_on_alone(PROCESS_PIDFD_KILL))
		return next(pidfd_send_signal)(fd, signal, info, flags);
	shim_pidfd_kills(fd, signal, flags, shim_caller());
	SHIM_TRACE(int, PROCESS_PIDFD_KILL, next(pidfd_send_signal)(fd, signal, info, flags),
		   result == -1 ? errno : 0, (fd, signal), (), ());
}

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
