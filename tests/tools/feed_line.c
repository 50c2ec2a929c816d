/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/feed_line.c - a serial line for the tests of posixtrace: a pseudo-terminal, whose other
 * side's name is the first line of standard output. It is no test itself.
 *
 * It copies standard input to the line once a process listens there in raw mode, then hangs up.
 * Exits with 1 if no process listens.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#define TRIES 6000 /* of 10 ms */
#define QUIET 50   /* number in a row */

static void nap(void)
{
	poll(NULL, 0, 10);
}

static int is_raw(int fd)
{
	struct termios line;

	return !tcgetattr(fd, &line) && !(line.c_lflag & (ICANON | ECHO | ISIG)) &&
	       !(line.c_iflag & (ICRNL | IXON));
}

static int write_all(int fd, const char *bytes, ssize_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, (size_t)len);

		if (n < 0)
			return 0;
		bytes += n;
		len -= n;
	}
	return 1;
}

/*
 * A hangup discards unread bytes. The line holds more than the 4096 bytes that can be read at once,
 * and for a moment after these were read the others are not visible.
 */
static void wait_until_read(int slave)
{
	struct pollfd poller = { .fd = slave, .events = POLLIN };
	int quiet = 0;

	for (int i = 0; i < TRIES && quiet < QUIET; i++, nap())
		quiet = poll(&poller, 1, 0) == 1 ? 0 : quiet + 1;
}

int main(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	char bytes[4096];
	ssize_t n;

	if (master < 0 || grantpt(master) || unlockpt(master))
		return 99;
	/* Our side stays open, so that the line is not hung up before the reader opens it. */
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (slave < 0)
		return 99;
	puts(ptsname(master));
	fflush(stdout);
	for (int i = 0; !is_raw(slave); i++, nap())
		if (i == TRIES)
			return 1;
	while ((n = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
		if (!write_all(master, bytes, n))
			return 1;
	wait_until_read(slave);
	close(slave);
	close(master);
	return 0;
}
