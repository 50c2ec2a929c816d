/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies a log from a pipe. The test determines when the reading begins. */
#include "support/log.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct siphon {
	int from, to_write, file;
	atomic_bool released;
	pthread_t thread;
};

static void *copy(void *arg)
{
	struct siphon *siphon = arg;
	static _Thread_local char buffer[65536];
	ssize_t n;

	wait_until(atomic_load(&siphon->released));
	while ((n = read(siphon->from, buffer, sizeof(buffer))) > 0)
		for (ssize_t done = 0; done < n;) {
			ssize_t wrote = write(siphon->file, buffer + done, (size_t)(n - done));

			if (wrote <= 0)
				return (void *)"writing what came out of a pipe";
			done += wrote;
		}
	return n ? (void *)"reading from a pipe" : NULL;
}

static struct siphon *begin(int from, int to_write)
{
	struct siphon *siphon = calloc(1, sizeof(*siphon));

	siphon->from = from;
	siphon->to_write = to_write;
	siphon->file = log_file();
	siphon->thread = spawn(copy, siphon);
	return siphon;
}

struct siphon *siphon_start(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		ck_abort_msg("pipe2: %s", strerror(errno));
	return begin(ends[0], ends[1]);
}

struct siphon *siphon_start_at(int from_fd)
{
	return begin(from_fd, -1);
}

int siphon_fd(const struct siphon *siphon)
{
	return siphon->to_write;
}

void siphon_release(struct siphon *siphon)
{
	atomic_store(&siphon->released, true);
}

int siphon_finish(struct siphon *siphon)
{
	const char *failure;
	int file = siphon->file;

	siphon_release(siphon);
	failure = join(siphon->thread);
	if (failure)
		ck_abort_msg("%s: %s", failure, strerror(errno));
	close(siphon->from);
	free(siphon);
	return file;
}
