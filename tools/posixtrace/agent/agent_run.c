/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* agent_run.c - the life of the agent: signals, the search for processes, the ends of processes. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "base/vec.h"

#define AGAIN_NS     INT64_C(1000000000) /* before a second attempt to record a process */
#define AGAIN_MAX_NS INT64_C(300000000000)

/*
 * The start distinguishes the process from a former one that had the same number, and whose
 * recorder has not noticed its end yet.
 */
static bool is_recorded(const struct agent *agent, const struct found *found)
{
	for (size_t i = 0; i < agent->recorders; i++)
		if (agent->recorder[i]->pid == found->pid &&
		    agent->recorder[i]->start == found->start)
			return true;
	return false;
}

/* Returns the failure of this process, NULL if it was never tried or has had no failure. */
static struct agent_failure *failure_of(struct agent *agent, const struct found *found)
{
	for (size_t i = 0; i < agent->failures; i++) {
		struct agent_failure *failure = &agent->failure[i];

		if (failure->pid == found->pid && failure->start == found->start)
			return failure;
	}
	return NULL;
}

/*
 * Removes one failure. The last one gets its place, so a caller that removes several goes
 * backwards.
 */
static void forget_failure(struct agent *agent, size_t index)
{
	free(agent->failure[index].executable);
	agent->failure[index] = agent->failure[--agent->failures];
}

/* Forgets the failures of processes that have ended, or all. */
static void forget_failures(struct agent *agent, bool all)
{
	for (size_t i = agent->failures; i-- > 0;)
		if (all || find_start(agent->failure[i].pid) != agent->failure[i].start)
			forget_failure(agent, i);
}

/* Remembers that a process could not be recorded, so that it is not tried at each search. */
static void note_failure(struct agent *agent, const struct found *found)
{
	struct agent_failure *failure = failure_of(agent, found);

	if (!failure) {
		char *executable = strdup(found->executable);

		if (!executable || !vec_grow(&agent->failure, agent->failures, 1)) {
			free(executable);
			return;
		}
		failure = &agent->failure[agent->failures++];
		*failure = (struct agent_failure){ .pid = found->pid,
						   .start = found->start,
						   .executable = executable,
						   .wait_ns = AGAIN_NS };
	}
	failure->again_ns = until_now_ns() + failure->wait_ns;
	failure->wait_ns =
		failure->wait_ns < AGAIN_MAX_NS / 2 ? 2 * failure->wait_ns : AGAIN_MAX_NS;
}

/* Whether a process that failed is not tried now. Another program is tried at once. */
static bool must_wait(struct agent *agent, const struct found *found)
{
	struct agent_failure *failure = failure_of(agent, found);

	if (!failure)
		return false;
	if (strcmp(failure->executable, found->executable)) {
		forget_failure(agent, (size_t)(failure - agent->failure));
		return false;
	}
	return until_now_ns() < failure->again_ns;
}

/*
 * Records that the stream of an earlier agent ended before this one began. Calls between the two
 * are in no ledger, because the process had no stream then.
 */
static void note_gap(const struct agent *agent, const struct recorder *recorder,
		     const struct found *found)
{
	int64_t gap = agent_gap_ms(agent, found);
	char reason[120];

	if (gap < 0)
		return;
	snprintf(reason, sizeof(reason),
		 "nothing was recorded for %lld.%03lld s: calls of that time are not counted",
		 (long long)gap / 1000, (long long)gap % 1000);
	say("record %s: process %d: %s", found->record->name, (int)found->pid, reason);
	recorder_note(recorder, "gap", "", reason);
}

/* Called for each process that the configuration names. */
static void visit_process(void *arg, const struct found *found)
{
	struct agent *agent = arg;
	struct recorder *recorder;

	if (is_recorded(agent, found) || must_wait(agent, found))
		return;
	/* The library may appear later: the program may execute another one, or load it. */
	if (!found->record->injects && !find_uses_library(found->pid)) {
		note_failure(agent, found);
		return;
	}
	if (!vec_grow(&agent->recorder, agent->recorders, 1)) {
		say("%s", strerror(ENOMEM));
		return;
	}
	/*
	 * The section may have no memory for a further stream, or no permission: the process is
	 * tried again after a time that doubles, so that messages do not fill the journal.
	 */
	switch (recorder_begin(&recorder, agent->config, &agent->store, found)) {
	case RECORDER_BEGUN:
		agent->recorder[agent->recorders++] = recorder;
		recorder_watch(recorder, agent->config, &agent->metrics);
		say("record %s: process %d (%s) is recorded", found->record->name, (int)found->pid,
		    found->executable);
		if (agent->has_leftovers)
			note_gap(agent, recorder, found);
		break;
	case RECORDER_FAILED:
		note_failure(agent, found);
		break;
	case RECORDER_GONE:
		break;
	}
}

/*
 * Ends the recorders of processes that their section no longer names, as after an execve() of
 * another program, those that have lost the library by an execve() of a program that the same
 * section names, and those whose stream fails.
 */
static void look_at_recorders(struct agent *agent)
{
	for (size_t i = agent->recorders; i-- > 0;) {
		struct recorder *recorder = agent->recorder[i];
		const struct config_record *record;
		/* Read before the end is asked for, so that an end is never taken for a change. */
		bool is_known = find_record(agent->config, recorder->pid, &record);
		struct ended ended;

		if (recorder_has_ended(recorder, &ended))
			agent_process_ended(agent, i, &ended);
		else if (is_known && (!record || strcmp(record->name, recorder->record->name)))
			agent_end_recorder(agent, i, "change",
					   "its section no longer names the process");
		/* The search loads the library into the new program. */
		else if (recorder->inject.is_attached && find_lacks_library(recorder->pid))
			agent_end_recorder(agent, i, "change",
					   "it executes a program without the library");
		else if (!recorder_look(recorder))
			agent_end_recorder(agent, i, "error", "the stream cannot be used");
	}
}

/*
 * Recorders whose process has changed end first: the search may then find the same process for
 * another section. Files are treated at the same rate, which needs no timer of its own.
 */
static void search_processes(struct agent *agent)
{
	look_at_recorders(agent);
	forget_failures(agent, false);
	find_processes(agent->config, visit_process, agent);
	if (agent->has_leftovers)
		agent_leftovers(agent);
	store_tidy(&agent->store, agent->config);
	metrics_write(agent);
	agent->keeps_waiting = false;
	agent->search_ns = until_now_ns() + agent->config->interval_ns;
}

/*
 * Whether the recorder can go on under the new configuration. Its strings remain those of the old.
 * "Cannot tell" which section names the process ends no recording.
 */
static bool is_kept(const struct config *config, const struct recorder *recorder)
{
	const struct config_record *record = config_record_of(config, recorder->record->name), *now;

	return record && !strcmp(record->text, recorder->record->text) &&
	       (!find_record(config, recorder->pid, &now) || now == record);
}

/* A configuration with faults changes nothing. */
static void reload_config(struct agent *agent)
{
	struct config *config = config_read(agent->path);

	/* The lock, the socket and the flight logs belong to the former folder. */
	if (config && strcmp(config->folder, agent->config->folder)) {
		say("%s: another folder needs a new start of the agent", agent->path);
		config_drop(config);
		config = NULL;
	}
	if (!config) {
		say("%s: not loaded; the agent goes on with the former configuration", agent->path);
		return;
	}
	/* The events before the reload concern the former triggers. */
	agent_read_watches(agent);
	for (size_t i = agent->recorders; i-- > 0;) {
		bool keeps = is_kept(config, agent->recorder[i]);
		struct ended ended;

		if (recorder_has_ended(agent->recorder[i], &ended))
			agent_process_ended(agent, i, &ended);
		else if (!keeps)
			agent_end_recorder(agent, i, "reload", "the configuration has changed");
	}
	for (size_t i = 0; i < agent->recorders; i++)
		recorder_watch(agent->recorder[i], config, &agent->metrics);
	if (agent->config->textfile &&
	    (!config->textfile || strcmp(config->textfile, agent->config->textfile)))
		metrics_remove(agent);
	config_drop(agent->config);
	agent->config = config;
	metrics_listen(agent);
	forget_failures(agent, true);
	agent->search_ns = 0;
	say("%s: loaded", agent->path);
}

/* Signals arrive by a descriptor, so no handler runs and no call is interrupted. */
static void obey_signals(struct agent *agent)
{
	size_t matched;
	bool sent;
	int sig;

	while (until_signal(&agent->signals, &sig, &sent))
		switch (sig) {
		case SIGHUP:
			reload_config(agent);
			break;
		case SIGUSR1:
			if (!agent_snapshot(agent, "*", "signal", "SIGUSR1", NULL, &matched))
				say("SIGUSR1: no process is recorded now");
			break;
		case SIGUSR2:
			agent->ends = agent->hands_over = true;
			break;
		default:
			agent->ends = true;
		}
}

/* Whether a recorder has a watch, which must be read more often than processes are searched for. */
static bool has_watch(const struct agent *agent)
{
	for (size_t i = 0; i < agent->recorders; i++)
		if (agent->recorder[i]->watch)
			return true;
	return false;
}

/* Returns how long poll() may sleep, in milliseconds, rounded up. */
static int sleep_ms(const struct agent *agent)
{
	int64_t until_ns = agent->search_ns, left_ns;

	if (has_watch(agent) && agent->read_ns < until_ns)
		until_ns = agent->read_ns;
	left_ns = until_ns - until_now_ns();
	if (left_ns <= 0)
		return 0;
	return left_ns > 60000000000 ? 60000 : (int)((left_ns + 999999) / 1000000);
}

/* Sleeps until a signal, a client, the end of a process, or the next search. */
static void wait_for_work(struct agent *agent)
{
	struct pollfd *poller = calloc(agent->recorders + 3, sizeof(*poller));
	struct ended ended;

	if (!poller) {
		usleep(100000);
		return;
	}
	poller[0] = (struct pollfd){ .fd = agent->signals.signals, .events = POLLIN };
	/* poll() ignores a negative descriptor. */
	if (agent->keeps_waiting) {
		poller[1].fd = poller[2].fd = -1;
	} else {
		poller[1] = (struct pollfd){ .fd = agent->control, .events = POLLIN };
		poller[2] = (struct pollfd){ .fd = agent->metrics.listener, .events = POLLIN };
	}
	for (size_t i = 0; i < agent->recorders; i++)
		poller[i + 3] =
			(struct pollfd){ .fd = agent->recorder[i]->pidfd, .events = POLLIN };
	poll(poller, agent->recorders + 3, sleep_ms(agent));
	/* Backwards: a recorder that ends is replaced by the last one, which was looked at. */
	for (size_t i = agent->recorders; i-- > 0;)
		if (poller[i + 3].revents && recorder_has_ended(agent->recorder[i], &ended))
			agent_process_ended(agent, i, &ended);
	if (poller[1].revents)
		agent_control_serve(agent);
	/* A scrape is answered after the ends of processes, so that it has their counts. */
	if (poller[2].revents && !agent->keeps_waiting)
		metrics_serve(agent);
	free(poller);
	if (has_watch(agent) && until_now_ns() >= agent->read_ns) {
		agent_read_watches(agent);
		agent->read_ns = until_now_ns() + INT64_C(1000000) * WATCH_READ_MS;
	}
	obey_signals(agent);
}

/*
 * SIGUSR1 and SIGUSR2 would end a process that does not block them, so they are blocked before the
 * message that the agent is ready.
 */
static int begin_signals(struct agent *agent)
{
	const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
	sigset_t set;
	int err;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&set, signals[i]);
	err = until_signals(&agent->signals, &set);
	if (err)
		say("agent: %s", strerror(err));
	return err ? TOOL_FAILURE : TOOL_OK;
}

/*
 * Ends all recorders, unless the streams are handed over: then the guardians complete their logs,
 * as if the agent had been killed.
 */
static void end_agent(struct agent *agent)
{
	agent_control_close(agent);
	if (agent->hands_over)
		_exit(TOOL_OK);
	while (agent->recorders)
		agent_end_recorder(agent, agent->recorders - 1, "stop", "the agent ends");
	/* A handed over agent is followed by another one soon, which replaces the file. */
	metrics_remove(agent);
	metrics_fini(&agent->metrics);
	forget_failures(agent, true);
	free(agent->failure);
	free(agent->fired);
	free(agent->recorder);
}

/*
 * A recorder needs four descriptors or more, and the usual limit of 1024 is for programs that use
 * select(2), which the agent does not. Without a higher limit fewer processes are recorded.
 */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/*
 * Everything that can fail is done before the first process is touched. After that only a signal
 * ends the agent.
 */
int agent_serve(const char *path)
{
	struct agent agent = { .path = path,
			       .control = -1,
			       .has_leftovers = true,
			       .began = time(NULL),
			       .metrics = { .listener = -1 },
			       .signals = { .signals = -1, .process = -1 } };
	int status;

	agent.config = config_read(path);
	if (!agent.config)
		return TOOL_FAILURE;
	raise_limit();
	status = store_open(&agent.store, agent.config->folder);
	if (!status)
		status = begin_signals(&agent);
	if (!status)
		status = metrics_listen(&agent);
	if (!status)
		status = agent_control_open(&agent);
	if (!status) {
		agent.begin_ns = until_now_ns();
		say("%s: ready: %zu section%s [record], logs in %s/logs", path,
		    agent.config->records, text_plural(agent.config->records), agent.store.folder);
		while (!agent.ends) {
			if (until_now_ns() >= agent.search_ns)
				search_processes(&agent);
			wait_for_work(&agent);
		}
		end_agent(&agent);
	}
	until_end(&agent.signals);
	store_close(&agent.store);
	config_drop(agent.config);
	return status;
}
