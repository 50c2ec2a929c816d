/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fetch.c - connects the options --at and --host with the database and with logfile_open(). */
#include "fetch/fetch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spool.h"
#include "base/say.h"
#include "base/tool.h"
#include "fetch/fetch_part.h"

struct fetch fetch;

/*
 * Returns the log with this name, or NULL. The function finds only logs that at_logs() has chosen.
 */
static struct fetch_log *log_of_name(const char *name)
{
	for (size_t i = 0; i < fetch.logs; i++)
		if (fetch.log[i].is_chosen && !strcmp(fetch.log[i].name, name))
			return &fetch.log[i];
	return NULL;
}

/* The temporary file has no name, so it disappears with its descriptor. */
static bool open_fetched(struct logfile *file, const char *path, int *status)
{
	struct fetch_log *log = log_of_name(path);
	int err;

	if (!log)
		return false;
	err = spool_create(&file->fd);
	*status = TOOL_FAILURE;
	if (err) {
		spool_say_why(path, err);
		return true;
	}
	*status = fetch_make(log, file->fd);
	if (*status)
		close(file->fd);
	return true;
}

/*
 * The temporary log is complete and begins with the first fetched event. The function replaces its
 * facts by those of the whole log, so that times such as +1s mean the same as for the file. If the
 * database does not have the complete log, the function prints this and clears info.complete.
 */
static void correct_facts(struct logfile *file)
{
	const struct fetch_log *log = log_of_name(file->path);

	if (!log)
		return;
	if (!file->info.blocks || log->first_ns < file->info.first_ns)
		file->info.first_ns = log->first_ns;
	if (!file->info.blocks || log->last_ns > file->info.last_ns)
		file->info.last_ns = log->last_ns;
	/* A log without blocks would have no times. This log has times, but no chosen event. */
	if (log->events && !file->info.blocks)
		file->info.blocks = 1;
	/*
	 * The name of the host is copied here, because the composer accepts no empty name. A log
	 * with an empty host has a clock of its own.
	 */
	snprintf(file->info.host, sizeof(file->info.host), "%s", log->host);
	file->info.complete = log->is_complete && !log->missing;
	if (log->missing)
		say_warning("%s: the database lacks %" PRIu64 " of the %" PRIu64 " events that its "
			    "summary counts: try again when this replica has them, or ask another "
			    "host", file->path, log->missing, log->events);
	if (!log->is_complete)
		say("%s: not complete in the database: its writer has not closed it, or ship has "
		    "not sent its end", file->path);
	fetch_symbols(log, file);
}

static const struct logfile_source source_of_fleet = {
	.open = open_fetched, .opened = correct_facts,
};

/*
 * Returns a copy of a valid URL without the user and the password, because messages must not show
 * these.
 */
static char *place_of(const char *url)
{
	const char *rest = strstr(url, "://") + 3, *sign = strrchr(rest, '@');
	char *place;

	return asprintf(&place, "%.*s%s", (int)(rest - url), url, sign ? sign + 1 : rest) < 0 ?
	       NULL : place;
}

static int begin_fetch(struct at *at, char **operand, size_t operands)
{
	struct address address;

	fetch.at = at;
	if (!address_parse(&address, "--at", at->url))
		return TOOL_USAGE;
	if (!server_init(&fetch.server, &address))
		return TOOL_FAILURE;
	fetch.is_open = true;
	fetch.place = place_of(at->url);
	if (!fetch.place) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	fetch.server.has_database = true;
	fetch.server.timeout_s = 0;
	logfile_source = &source_of_fleet;
	return fetch_find(operand, operands);
}

static void end_fetch(void)
{
	logfile_source = NULL;
	fetch_free_logs();
	if (fetch.is_open)
		server_free(&fetch.server);
	free(fetch.place);
	memset(&fetch, 0, sizeof(fetch));
}

const struct at_fleet fetch_fleet = { .find = begin_fetch, .end = end_fetch };
