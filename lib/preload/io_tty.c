/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/io_tty.c - family io: functions for terminals, each of which is a request of ioctl().
 *
 * The event is the event of ioctl() with this request. `result` is the result of the function, and
 * `value` is its argument. The C library makes the request on a structure of its own, which is not
 * recorded.
 *
 * Signals  the functions that POSIX calls async-signal-safe remain so: the wrappers neither lock
 *          nor allocate.
 */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "preload/call.h"

#define TTY(name, params, args, request, value) \
	SHIM_INT(name, IO_IOCTL, params, args, (fd, result), \
		 ((int64_t)(request), (int64_t)(value)), ())

/*
 * Programs call isatty() to decide whether to buffer their output, to use colours, or to start a
 * pager.
 */
SHIM_TRACED(int, isatty, IO_IOCTL, shim_no_number, (int fd), (fd), !result, (fd, result),
	    (TCGETS, 0), ())

TTY(tcgetattr, (int fd, struct termios *to), (fd, to), TCGETS, (uintptr_t)to)
/*
 * The actions TCSANOW, TCSADRAIN and TCSAFLUSH have successive numbers, and so have their requests.
 * With another action the function fails before it makes a request.
 */
TTY(tcsetattr, (int fd, int action, const struct termios *from), (fd, action, from),
    TCSETS + (action == TCSADRAIN || action == TCSAFLUSH ? action : TCSANOW), (uintptr_t)from)
TTY(tcgetpgrp, (int fd), (fd), TIOCGPGRP, 0)
TTY(tcsetpgrp, (int fd, pid_t group), (fd, group), TIOCSPGRP, group)
TTY(tcgetsid, (int fd), (fd), TIOCGSID, 0)
/* The call waits until all output is sent. Its thread may be cancelled. */
TTY(tcdrain, (int fd), (fd), TCSBRK, 1)
TTY(tcflush, (int fd, int queue), (fd, queue), TCFLSH, queue)
TTY(tcflow, (int fd, int action), (fd, action), TCXONC, action)
TTY(tcsendbreak, (int fd, int time), (fd, time), time > 0 ? TCSBRKP : TCSBRK, time)

TTY(unlockpt, (int fd), (fd), TIOCSPTLCK, 0)
TTY(grantpt, (int fd), (fd), TIOCGPTN, 0)
SHIM_TRACED(char *, ptsname, IO_IOCTL, shim_no_pointer, (int fd), (fd), !result,
	    (fd, result ? 0 : -1), (TIOCGPTN, 0), ())
/* ptsname_r() and __ptsname_r_chk() return an error number, and set errno as well. */
int __ptsname_r_chk(int fd, char *to, size_t bytes, size_t room);
SHIM_ERROR(ptsname_r, IO_IOCTL, (int fd, char *to, size_t bytes), (fd, to, bytes),
	   (fd, result ? -1 : 0), (TIOCGPTN, (int64_t)(uintptr_t)to), ())
SHIM_ERROR(__ptsname_r_chk, IO_IOCTL, (int fd, char *to, size_t bytes, size_t room),
	   (fd, to, bytes, room), (fd, result ? -1 : 0), (TIOCGPTN, (int64_t)(uintptr_t)to), ())

/* This request is for sockets and not for terminals. */
TTY(sockatmark, (int fd), (fd), SIOCATMARK, 0)
