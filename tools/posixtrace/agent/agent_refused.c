/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent_refused.c - the processes that the configuration names and that could not be recorded: why
 * not, and when the agent tries again.
 *
 * An attempt may fail because memory, a descriptor, a stream or a permission is lacking. The agent
 * prints a reason only if it is new for the process, and at most once a minute, so that repeated
 * attempts do not fill the journal.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/say.h"
#include "base/vec.h"

/* the time between the first and the second attempt, which then doubles */
#define AGAIN_NS	INT64_C(1000000000)
#define AGAIN_MOST_NS	INT64_C(10000000000)
/* An attempt to load the library may take ten seconds, in which the agent does nothing else. */
#define INJECT_MOST_NS	INT64_C(300000000000)

/*
 * A reason may contain a number that changes with each attempt, such as the time in the name of a
 * file. So a changed reason is printed after this time.
 */
#define SAY_AGAIN_NS	INT64_C(60000000000)

const char *const agent_refusal_name[AGENT_REFUSALS] = {
	[AGENT_NO_LIBRARY] = "library",
	[AGENT_NO_STREAM] = "streams",
	[AGENT_NO_DESCRIPTOR] = "descriptors",
	[AGENT_ERROR] = "error",
};

void agent_no_stream(char reason[RECORDER_REASON], pid_t pid)
{
	snprintf(reason, RECORDER_REASON, "process %d: the %d streams that a user can have are in "
		 "use; 'posixtrace list' shows them; name fewer processes in the configuration, or "
		 "remove durations and triggers on spans, errors and rules, which need a second "
		 "stream for each process", (int)pid, TRACE_SYS_MAX);
}

bool agent_has_descriptors(const struct agent *agent)
{
	int copies[AGENT_DESCRIPTORS], count = 0;
	bool good;

	/* The copies only show how many descriptors are free, so any descriptor may be copied. */
	while (count < AGENT_DESCRIPTORS &&
	       (copies[count] = fcntl(agent->signals.signals, F_DUPFD_CLOEXEC, 0)) >= 0)
		count++;
	good = count == AGENT_DESCRIPTORS;
	while (count)
		close(copies[--count]);
	return good;
}

bool agent_is_due(int64_t *said_ns)
{
	const int64_t now_ns = until_now_ns();

	if (*said_ns && now_ns - *said_ns < SAY_AGAIN_NS)
		return false;
	*said_ns = now_ns;
	return true;
}

char *agent_one_line(char messages[RECORDER_REASON])
{
	for (char *end = messages; (end = strchr(end, '\n'));) {
		const size_t at = (size_t)(end - messages), len = strlen(messages);

		*end = ';';
		if (len + 1 < RECORDER_REASON) {
			memmove(end + 2, end + 1, len - at);
			end[1] = ' ';
		}
	}
	return messages;
}

/* Returns the refused process, or NULL if no attempt to record the process has failed. */
static struct agent_refused *refused_of(struct agent *agent, const struct found *found)
{
	for (size_t i = 0; i < agent->refuseds; i++) {
		struct agent_refused *refused = &agent->refused[i];

		if (refused->pid == found->pid && refused->start == found->start)
			return refused;
	}
	return NULL;
}

/*
 * Removes one element. The last element replaces it, so a loop that removes elements must run
 * backwards.
 */
static void forget_refused(struct agent *agent, size_t index)
{
	free(agent->refused[index].executable);
	agent->refused[index] = agent->refused[--agent->refuseds];
}

void agent_forget_refused(struct agent *agent, bool all)
{
	for (size_t i = agent->refuseds; i-- > 0;)
		if (all || agent->refused[i].search != agent->searches)
			forget_refused(agent, i);
}

void agent_forget_recorded(struct agent *agent, const struct found *found)
{
	struct agent_refused *refused = refused_of(agent, found);

	if (refused)
		forget_refused(agent, (size_t)(refused - agent->refused));
}

/* Returns the greatest time between two attempts. */
static int64_t most_ns(enum agent_refusal why, const struct found *found)
{
	/* The next search tries only one such process; if that fails, the others wait. */
	if (why == AGENT_NO_STREAM || why == AGENT_NO_DESCRIPTOR)
		return 0;
	return why == AGENT_ERROR && found->record->injects ? INJECT_MOST_NS : AGAIN_MOST_NS;
}

/* Returns the element of the process, and makes it if it is missing. NULL: memory is lacking. */
static struct agent_refused *have_refused(struct agent *agent, const struct found *found)
{
	struct agent_refused *refused = refused_of(agent, found);
	char *executable;

	if (refused)
		return refused;
	executable = strdup(found->executable);
	if (!executable || !vec_grow(&agent->refused, agent->refuseds, 1)) {
		free(executable);
		return NULL;
	}
	refused = &agent->refused[agent->refuseds++];
	*refused = (struct agent_refused){ .pid = found->pid, .start = found->start,
					   .executable = executable, .wait_ns = AGAIN_NS };
	return refused;
}

/* Returns whether this search has found no other process that is refused for the same reason. */
static bool is_first(const struct agent *agent, const struct found *found, enum agent_refusal why)
{
	for (size_t i = 0; i < agent->refuseds; i++)
		if (agent->refused[i].why == why && agent->refused[i].pid != found->pid &&
		    agent->refused[i].search == agent->searches)
			return false;
	return true;
}

void agent_note_refused(struct agent *agent, const struct found *found, enum agent_refusal why,
			const char *reason)
{
	struct agent_refused *refused = have_refused(agent, found);
	const int64_t limit_ns = most_ns(why, found);
	/*
	 * A section without inject may name many programs that do not use the library. This is no
	 * error, so only --status shows it. --status also shows all processes without a stream.
	 */
	bool is_said = why == AGENT_ERROR ||
		       (why != AGENT_NO_LIBRARY && is_first(agent, found, why));

	agent->lacks_streams |= why == AGENT_NO_STREAM;
	agent->lacks_descriptors |= why == AGENT_NO_DESCRIPTOR;
	if (is_said &&
	    (!refused || (strcmp(refused->reason, reason) && agent_is_due(&refused->said_ns))))
		say("%s", reason);
	if (!refused)
		return;
	snprintf(refused->record, sizeof(refused->record), "%s", found->record->name);
	snprintf(refused->reason, sizeof(refused->reason), "%s", reason);
	refused->why = why;
	refused->search = agent->searches;
	if (refused->wait_ns > limit_ns)
		refused->wait_ns = limit_ns;
	refused->again_ns = until_now_ns() + refused->wait_ns;
	refused->wait_ns = refused->wait_ns ? 2 * refused->wait_ns : AGAIN_NS;
}

/*
 * If the process now executes another program, the function forgets the refusal, so that the agent
 * tries the process immediately. If a process of this search has found no free stream, the next
 * processes would not find one either.
 */
bool agent_must_wait(struct agent *agent, const struct found *found)
{
	struct agent_refused *refused = refused_of(agent, found);

	if (refused && strcmp(refused->executable, found->executable)) {
		forget_refused(agent, (size_t)(refused - agent->refused));
		refused = NULL;
	}
	if (refused)
		refused->search = agent->searches;
	if (!refused)
		return false;
	if ((refused->why == AGENT_NO_STREAM && agent->lacks_streams) ||
	    (refused->why == AGENT_NO_DESCRIPTOR && agent->lacks_descriptors))
		return true;
	return until_now_ns() < refused->again_ns;
}
