/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent_leftover.c - the flight logs of an agent that was killed.
 *
 * The guardian of each such log writes the content of the stream and completes the log. It then
 * belongs to no process any more, and is moved to logs/. Without a guardian the log stays
 * incomplete: nothing shows whether one is still at work, so such a log is moved after a time, as
 * it is, and posixtrace verify reports its state.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/say.h"

#define PATIENCE_NS INT64_C(60000000000) /* a guardian needs milliseconds */

/* Whether the log was completed. A file that cannot be read is not. */
static bool is_complete(const struct store *store, const char *name)
{
	struct posix_trace_loginfo_np info = { .complete = 0 };
	int fd = openat(store->flight, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	trace_id_t trid;

	if (fd < 0)
		return false;
	if (!posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid)) {
		posix_trace_get_loginfo_np(trid, &info);
		posix_trace_close(trid);
	}
	close(fd);
	return info.complete != 0;
}

/* Whether a file belongs to a recorder of this agent. */
static bool is_in_use(const struct agent *agent, const char *name)
{
	for (size_t i = 0; i < agent->recorders; i++)
		if (!strcmp(agent->recorder[i]->name, name))
			return true;
	return false;
}

/* Treats one file. Returns true if it must be looked at again. */
static bool treat_leftover(struct agent *agent, const char *name)
{
	const char *suffix = strrchr(name, '.');
	struct store_flight flight;
	char *path;

	/* A snapshot that was not complete. Its events are in a flight log. */
	if (suffix && !strcmp(suffix, ".new")) {
		store_drop(&agent->store, name);
		return false;
	}
	if (!store_flight_parse(name, &flight) || is_in_use(agent, name))
		return false;
	if (!is_complete(&agent->store, name) && until_now_ns() - agent->begin_ns < PATIENCE_NS)
		return true;
	if (store_keep(&agent->store, agent->config, name, &flight, "restart", &path) && path)
		say("%s: the agent that recorded it has ended", path);
	free(path);
	return false;
}

/*
 * The folder is read as long as it has a log that is not complete, and then never again: files of
 * this agent have recorders, and nothing else makes files here.
 */
void agent_leftovers(struct agent *agent)
{
	int fd = openat(agent->store.flight, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!folder) {
		say("%s/flight: %s", agent->store.folder, strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	agent->has_leftovers = false;
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.' && treat_leftover(agent, entry->d_name))
			agent->has_leftovers = true;
	closedir(folder);
}
