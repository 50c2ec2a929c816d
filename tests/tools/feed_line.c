/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/feed_line.c - makes a serial line for the tests of posixtrace. The line is a
 * pseudo-terminal. The program prints the name of its other side as the first line. It is no test
 * itself.
 *
 * It waits until a process listens to the line in raw mode. Then it copies standard input to the
 * line and hangs up. It exits with 1 if no process listens.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#define TRIES 6000 /* the most looks, one each 10 ms */
#define QUIET 50   /* the line is empty if so many looks in a row find nothing */

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
 * Waits until the line is empty, because a hangup discards unread bytes. The line has room for more
 * than the 4096 bytes that can be read at once. When these 4096 bytes were read, poll() does not
 * report the other bytes for a moment. So several looks are necessary.
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
	/*
	 * This program keeps the reader's side open, so that no hangup occurs before a reader does.
	 */
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
