/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* position.c - the positions of logs: how much of a log a database has. */
#include "ship/ship.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/table.h"

/*
 * Parses a position. A text without all numbers and the word "end" is not a position, so an
 * incomplete file is recognized. The line "tables" may be missing, because older versions did not
 * write it, and the line "shown", if both of its numbers are 0. So an older version can read the
 * positions of the databases into which it can ship. An earlier version had a line "took", whose
 * sums lacked the fields.
 */
static bool parse_position(struct position *position, const char *text)
{
	unsigned end;
	int len = 0, more = 0, took = 0, shown = 0;

	if (sscanf(text,
		   "posixtrace ship 1\nevents %" SCNu64 "\nattempt %" SCNu64 " %" SCNu64 " %" SCNu64
		   "\nsummary %" SCNu64 " %" SCNu64 " %u\nreplacing %" SCNu64 "\n%n",
		   &position->events, &position->attempt, &position->first, &position->count,
		   &position->summary, &position->summary_events, &end, &position->replacing,
		   &len) != 8 || !len || end > SUMMARY_ACCOUNT)
		return false;
	position->summary_end = (enum summary_end)end;
	sscanf(text + len, "tables %" SCNu64 "\n%n", &position->tables, &more);
	sscanf(text + len + more, "took %*u %*u\n%n", &took);
	len += more + took;
	sscanf(text + len, "shown %" SCNu64 " %" SCNu64 "\n%n", &position->took,
	       &position->attempt_took, &shown);
	position->has_took = shown;
	return !strcmp(text + len + shown, "end\n") &&
	       (!position->attempt || position->first == position->events);
}

/*
 * The name of the file with the lock does not depend on the hosts in the URL. One user may name all
 * replicas of a database. Another user may name only some of them, or name the same host in another
 * way.
 */
enum state_result position_open(struct position *position, const char *folder,
				const struct address *address, uint64_t source)
{
	const char *database = address->database;
	enum state_result result;
	char text[STATE_BYTES];

	memset(position, 0, sizeof(*position));
	position->source = source;
	result = state_open(&position->state, folder, address_number(address),
			    hash_bytes(HASH_BEGIN, database, strlen(database)), source);
	if (result != STATE_OK)
		return result;
	if (state_read(&position->state, text, &position->is_new)) {
		if (position->is_new || parse_position(position, text))
			return STATE_OK;
		state_say_invalid(&position->state);
	}
	position_close(position);
	return STATE_FAILED;
}

void position_close(struct position *position)
{
	state_close(&position->state);
}

bool position_save(struct position *position)
{
	char text[STATE_BYTES], took[64] = "";

	if (position->took || position->attempt_took)
		snprintf(took, sizeof(took), "shown %" PRIu64 " %" PRIu64 "\n", position->took,
			 position->attempt_took);
	snprintf(text, sizeof(text),
		 "posixtrace ship 1\nevents %" PRIu64 "\nattempt %" PRIu64 " %" PRIu64 " %" PRIu64
		 "\nsummary %" PRIu64 " %" PRIu64 " %u\nreplacing %" PRIu64 "\ntables %" PRIu64
		 "\n%send\n",
		 position->events, position->attempt, position->first, position->count,
		 position->summary, position->summary_events, (unsigned)position->summary_end,
		 position->replacing, position->tables, took);
	return state_save(&position->state, text);
}
