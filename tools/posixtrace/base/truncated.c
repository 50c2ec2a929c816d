/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * truncated.c - survives the truncation of a file that is mapped.
 *
 * Reading by pread() instead would need memory for whole files: debugging information often has
 * hundreds of MiB. With libdw, pread() is not possible, because libdw maps the files itself.
 */
#include "base/truncated.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The beginning of a line of /proc/self/maps, before the path. */
struct truncated_line {
	char text[128];
	size_t len;
};

/* Reads the next field, which ends with the character 'end', as a hexadecimal number. */
static uintptr_t take_number(const char **at, char end)
{
	uintptr_t number = 0;

	for (; **at && **at != end; ++*at)
		number = number << 4 | (uintptr_t)(**at <= '9' ? **at - '0' : **at - 'a' + 10);
	if (**at)
		++*at;
	return number;
}

/*
 * Returns whether the line is of a mapping of libelf that contains the address: a private and
 * writable mapping that begins at offset 0 of a file. A mapping of a library does not match,
 * because the linker maps the first page of a library read-only. *until becomes the end of the
 * mapping.
 */
static bool is_of_libelf(const char *line, uintptr_t address, uintptr_t *until)
{
	const uintptr_t from = take_number(&line, '-');

	*until = take_number(&line, ' ');
	if (address < from || address >= *until || strncmp(line, "rw-p ", 5))
		return false;
	line += 5;
	if (take_number(&line, ' '))
		return false;
	/* The device, then the inode, which is 0 for memory without a file. */
	line = strchr(line, ' ');
	return line && line[1] >= '1' && line[1] <= '9';
}

/*
 * Searches /proc/self/maps for a mapping of libelf that contains the address. Allocates no memory
 * and acquires no lock. Returns the end of the mapping, or 0.
 */
static uintptr_t end_of_mapping(uintptr_t address)
{
	struct truncated_line line = { .len = 0 };
	const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	uintptr_t until, found = 0;
	char bytes[512];
	ssize_t n;

	if (fd < 0)
		return 0;
	while (!found && (n = read(fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (bytes[i] != '\n') {
				if (line.len < sizeof(line.text) - 1)
					line.text[line.len++] = bytes[i];
				continue;
			}
			line.text[line.len] = '\0';
			line.len = 0;
			if (is_of_libelf(line.text, address, &until))
				found = until;
		}
	close(fd);
	return found;
}

/*
 * The handler of SIGBUS. The page of the access and all pages behind it in the mapping are behind
 * the end of the file. The handler replaces all these pages by zeros in one step. If it left the
 * last pages in the mapping, it would not recognize these pages at the next SIGBUS, because they do
 * not begin at offset 0 of the file.
 *
 * The handler calls only functions that are safe in a handler.
 */
static void put_zeros(int number, siginfo_t *info, void *context)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t address = (uintptr_t)info->si_addr, from = address & ~(page - 1);
	const int saved = errno;
	const uintptr_t until = info->si_code == BUS_ADRERR ? end_of_mapping(address) : 0;

	(void)context;
	if (!until || mmap((void *)from, until - from, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
		/* The access is repeated when the handler returns, and ends the process. */
		signal(number, SIG_DFL);
		/* A signal that a process has sent must be sent again. */
		if (info->si_code <= 0)
			raise(number);
	}
	errno = saved;
}

void truncated_survive(void)
{
	struct sigaction action = { .sa_sigaction = put_zeros, .sa_flags = SA_SIGINFO }, old;

	if (sigaction(SIGBUS, NULL, &old) || (old.sa_flags & SA_SIGINFO) ||
	    old.sa_handler != SIG_DFL)
		return;
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}
