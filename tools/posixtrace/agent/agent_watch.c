/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent_watch.c - begins the watches of recorders (watch.h), and tries again those that could not
 * begin, for example because the user has no stream left.
 *
 * A recorder without its watch still records. But its metrics lack durations, and triggers that
 * read events do not fire. So --status and the metrics show such a recorder.
 */
#include <string.h>

#include "agent/agent.h"
#include "base/say.h"

/* the time between the first and the second attempt, which then doubles */
#define AGAIN_NS      INT64_C(1000000000)
#define AGAIN_MOST_NS INT64_C(10000000000)

/*
 * Notes why the watch could not begin. Prints a new reason. If several processes lack a stream or
 * descriptors, prints only the first one during a search.
 */
static void note_unwatched(struct recorder *recorder, const char *reason, bool is_said)
{
	if (is_said && strcmp(recorder->unwatched, reason) && agent_is_due(&recorder->said_ns))
		say("record %s: durations and triggers on events do not apply: %s",
		    recorder->record->name, reason);
	snprintf(recorder->unwatched, sizeof(recorder->unwatched), "%s", reason);
}

void agent_watch(struct agent *agent, struct recorder *recorder)
{
	const bool was_unwatched = *recorder->unwatched;
	bool is_said = !agent->lacks_streams && !agent->lacks_descriptors;
	char reason[RECORDER_REASON];
	enum recorder_begun begun;

	say_keep(reason, sizeof(reason));
	begun = recorder_watch(recorder, agent->config, &agent->metrics);
	say_keep(NULL, 0);
	if (begun == RECORDER_BEGUN) {
		*recorder->unwatched = '\0';
		recorder->wait_ns = recorder->said_ns = 0;
		if (was_unwatched && recorder->watch)
			say("record %s: process %d: durations and triggers on events apply now",
			    recorder->record->name, (int)recorder->pid);
		return;
	}
	if (begun == RECORDER_FULL) {
		agent_no_stream(reason, recorder->pid);
		agent->lacks_streams = true;
	}
	note_unwatched(recorder, agent_one_line(reason), is_said);
	recorder->wait_ns = !recorder->wait_ns ? AGAIN_NS : 2 * recorder->wait_ns;
	if (recorder->wait_ns > AGAIN_MOST_NS)
		recorder->wait_ns = AGAIN_MOST_NS;
	/* If the user has no stream left, an attempt costs little, so each search makes one. */
	recorder->again_ns = until_now_ns() + (begun == RECORDER_FULL ? 0 : recorder->wait_ns);
}

/*
 * The attempts precede the search for further processes. So if a stream becomes free, a process
 * that is recorded already has its watch before another process is recorded.
 */
void agent_watch_again(struct agent *agent)
{
	const int64_t now_ns = until_now_ns();

	for (size_t i = 0; i < agent->recorders; i++) {
		struct recorder *recorder = agent->recorder[i];

		if (!*recorder->unwatched || now_ns < recorder->again_ns)
			continue;
		if (agent->lacks_streams || !agent_has_descriptors(agent))
			return;
		agent_watch(agent, recorder);
	}
}
