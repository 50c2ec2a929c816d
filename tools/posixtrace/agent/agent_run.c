/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent_run.c - runs the service: it handles signals, searches for processes, and detects the ends
 * of processes.
 */
#include <errno.h>
#include <malloc.h>
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

/*
 * Returns whether the process has a recorder. A recorder with the same process number but another
 * start time belongs to a former process. The agent has not noticed the end of that process yet.
 */
static bool is_recorded(const struct agent *agent, const struct found *found)
{
	for (size_t i = 0; i < agent->recorders; i++)
		if (agent->recorder[i]->pid == found->pid &&
		    agent->recorder[i]->start == found->start)
			return true;
	return false;
}

/*
 * Writes a note if an earlier stream of the process ended before this stream began. No ledger
 * counts the calls between the two streams, because the process had no stream at that time.
 */
static void note_gap(struct agent *agent, const struct recorder *recorder,
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

/*
 * Looks for reasons, before an attempt to record the process, for which the attempt would fail. If
 * there is one, stores it and returns true.
 */
static bool has_obstacle(struct agent *agent, const struct found *found, enum agent_refusal *why,
			 char reason[RECORDER_REASON])
{
	const int pid = (int)found->pid;

	if (!found->record->injects && !find_uses_library(found->pid)) {
		/* The process may get the library later, for example by execve(). */
		*why = AGENT_NO_LIBRARY;
		snprintf(reason, RECORDER_REASON, "process %d: it does not use libposixtrace, and "
			 "its section lacks inject = yes", pid);
		return true;
	}
	if (agent->lacks_descriptors || !agent_has_descriptors(agent)) {
		*why = AGENT_NO_DESCRIPTOR;
		snprintf(reason, RECORDER_REASON, "process %d: not recorded, because the agent "
			 "needs %d free descriptors to record it and to write logs; see ulimit -n",
			 pid, AGENT_DESCRIPTORS);
		return true;
	}
	*why = AGENT_NO_STREAM;
	agent_no_stream(reason, found->pid);
	return agent->lacks_streams;
}

/*
 * Begins to record the process. RECORDER_FAILED: stores the messages in "reason" as one line.
 * RECORDER_BEGUN: prints the messages. In the other cases drops them; for RECORDER_FULL, the caller
 * has a reason already.
 */
static enum recorder_begun begin_recorder(struct agent *agent, const struct found *found,
					  struct recorder **recorder, char reason[RECORDER_REASON])
{
	char messages[RECORDER_REASON];
	enum recorder_begun begun;

	say_keep(messages, sizeof(messages));
	begun = recorder_begin(recorder, agent->config, &agent->store, found);
	say_keep(NULL, 0);
	agent_one_line(messages);
	if (begun == RECORDER_FAILED)
		memcpy(reason, messages, sizeof(messages));
	else if (begun == RECORDER_BEGUN && *messages)
		say("%s", messages);
	return begun;
}

/* find_processes() calls this function for each process that the configuration names. */
static void visit_process(void *arg, const struct found *found)
{
	struct agent *agent = arg;
	char reason[RECORDER_REASON];
	enum agent_refusal why;
	struct recorder *recorder;

	if (is_recorded(agent, found) || agent_must_wait(agent, found))
		return;
	if (has_obstacle(agent, found, &why, reason)) {
		agent_note_refused(agent, found, why, reason);
		return;
	}
	if (!vec_grow(&agent->recorder, agent->recorders, 1)) {
		say("%s", strerror(ENOMEM));
		return;
	}
	switch (begin_recorder(agent, found, &recorder, reason)) {
	case RECORDER_BEGUN:
		agent->recorder[agent->recorders++] = recorder;
		agent_forget_recorded(agent, found);
		agent_watch(agent, recorder);
		say("record %s: process %d (%s) is recorded", found->record->name, (int)found->pid,
		    found->executable);
		note_gap(agent, recorder, found);
		break;
	case RECORDER_FULL:
		agent_note_refused(agent, found, AGENT_NO_STREAM, reason);
		break;
	case RECORDER_FAILED:
		agent_note_refused(agent, found, AGENT_ERROR, reason);
		break;
	case RECORDER_GONE:
		break;
	}
}

/*
 * Ends recorders that cannot continue. The process may have ended. The section may no longer name
 * the process, for example after execve() of another program. The process may have lost the library
 * by execve() of a program that the section names. The stream may have failed.
 */
static void look_at_recorders(struct agent *agent)
{
	for (size_t i = agent->recorders; i-- > 0;) {
		struct recorder *recorder = agent->recorder[i];
		const struct config_record *record;
		/*
		 * The function determines the section before it tests for the end, so that it does
		 * not mistake the end of a process for a change of its section.
		 */
		bool is_known = find_record(agent->config, recorder->pid, &record);
		struct ended ended;

		if (recorder_has_ended(recorder, &ended))
			agent_process_ended(agent, i, &ended);
		else if (is_known && (!record || strcmp(record->name, recorder->record->name)))
			agent_end_recorder(agent, i, "change",
					   "its section no longer names the process");
		/*
		 * The process has lost the library by execve(). Its recorder ends here. The search
		 * that follows loads the library into the new program.
		 */
		else if (recorder->inject.is_attached && find_lacks_library(recorder->pid))
			agent_end_recorder(agent, i, "change",
					   "it executes a program without the library");
		else if (!recorder_look(recorder))
			agent_end_recorder(agent, i, "error", "its stream cannot be examined");
	}
}

/* If a user or a program has removed or replaced folders of the agent, continues in new ones. */
static void keep_folders(struct agent *agent)
{
	enum store_change change = store_check(&agent->store);

	if (change == STORE_NEW_FOLDER ||
	    (change != STORE_MISSING && agent_control_is_lost(agent))) {
		agent_control_close(agent);
		agent_control_open(agent);
		agent->has_leftovers = true;
	}
	if (change == STORE_NEW_FOLDER || change == STORE_NEW_FLIGHT)
		agent_lost_flight(agent);
}

/*
 * Returns the memory of ended recorders to the kernel. Without this call, glibc returns only memory
 * behind the last used block, so the agent would keep the memory that it needed for its greatest
 * number of processes.
 */
static void return_memory(struct agent *agent)
{
#ifdef __GLIBC__
	if (agent->has_freed)
		malloc_trim(0);
#endif
	agent->has_freed = false;
}

/*
 * The function first ends the recorders whose process has changed, because the search may then find
 * the process for another section. It also handles leftovers, quotas and metrics, so that the agent
 * needs no further timer for them.
 */
static void search_processes(struct agent *agent)
{
	keep_folders(agent);
	look_at_recorders(agent);
	agent->searches++;
	agent->lacks_streams = agent->lacks_descriptors = false;
	agent_watch_again(agent);
	if (find_processes(agent->config, visit_process, agent, &agent->hidden))
		agent_forget_refused(agent, false);
	agent_forget_ends(agent);
	if (agent->has_leftovers)
		agent_leftovers(agent);
	store_tidy(&agent->store, agent->config);
	metrics_listen(agent);
	metrics_write(agent);
	return_memory(agent);
	agent->keeps_waiting = false;
	agent->search_ns = until_now_ns() + agent->config->interval_ns;
}

/*
 * Returns whether the recorder can continue under the new configuration. A recorder that continues
 * still uses the strings of its old configuration. If the section of the process is unknown, the
 * recorder continues.
 */
static bool is_kept(const struct config *config, const struct recorder *recorder)
{
	const struct config_record *record = config_record_of(config, recorder->record->name), *now;

	return record && !strcmp(record->text, recorder->record->text) &&
	       (!find_record(config, recorder->pid, &now) || now == record);
}

/*
 * Loads the configuration again. If the new configuration has faults, the agent keeps the old
 * configuration.
 */
static void reload_config(struct agent *agent)
{
	struct config *config = config_read(agent->path), *former = agent->config;

	/*
	 * The folder cannot change, because the lock, the socket and the flight logs are in the old
	 * folder.
	 */
	if (config && strcmp(config->folder, agent->config->folder)) {
		say("%s: the value of \"folder\" has changed; restart the agent to use the new "
		    "folder", agent->path);
		config_drop(config);
		config = NULL;
	}
	if (!config) {
		say("%s: not loaded; the agent continues with the former configuration",
		    agent->path);
		return;
	}
	/*
	 * The function first reads the watches, because the old triggers apply to the events before
	 * the reload.
	 */
	agent_read_watches(agent);
	for (size_t i = agent->recorders; i-- > 0;) {
		bool keeps = is_kept(config, agent->recorder[i]);
		struct ended ended;

		if (recorder_has_ended(agent->recorder[i], &ended))
			agent_process_ended(agent, i, &ended);
		else if (!keeps)
			agent_end_recorder(agent, i, "reload", "the configuration has changed");
	}
	if (former->textfile && (!config->textfile || strcmp(config->textfile, former->textfile)))
		metrics_remove(agent);
	/* The former watches use the former configuration until agent_watch() replaces them. */
	agent->config = config;
	agent_begin_counts(agent);
	for (size_t i = 0; i < agent->recorders; i++)
		agent_watch(agent, agent->recorder[i]);
	config_drop(former);
	agent->metrics.listen_err = 0;
	if (metrics_listen(agent))
		say("listen %s: the agent tries again at each search for processes",
		    config->listen);
	agent_forget_refused(agent, true);
	agent->search_ns = 0;
	say("%s: loaded", agent->path);
}

/*
 * Signals are read from a descriptor. So no signal handler runs, and no system call is interrupted.
 */
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
			if (!agent_snapshot(agent, "*", "signal", "SIGUSR1", 0, NULL, &matched))
				say("SIGUSR1: no process is recorded now");
			break;
		case SIGUSR2:
			agent->ends = agent->reexecutes = true;
			break;
		default:
			agent->ends = true;
		}
}

/*
 * Returns whether at least one recorder has a watch. The agent must read watches more often than it
 * searches processes.
 */
static bool has_watch(const struct agent *agent)
{
	for (size_t i = 0; i < agent->recorders; i++)
		if (agent->recorder[i]->watch)
			return true;
	return false;
}

/*
 * Returns whether at least one recorder has a budget. The agent must check budgets more often than
 * it searches processes.
 */
static bool has_budget(const struct agent *agent)
{
	for (size_t i = 0; i < agent->recorders; i++)
		if (agent->recorder[i]->capture.budget)
			return true;
	return false;
}

/* Lets each recorder keep its budget. If this fails, ends the recorder. */
static void keep_budgets(struct agent *agent)
{
	for (size_t i = agent->recorders; i-- > 0;)
		if (agent->recorder[i]->capture.budget && !recorder_look_budget(agent->recorder[i]))
			agent_end_recorder(agent, i, "error", "the budget cannot be kept");
	agent->budget_ns = until_now_ns() + INT64_C(1000000) * RECORDER_BUDGET_MS;
}

/* Returns the longest time in milliseconds that poll() may sleep, rounded up. */
static int sleep_ms(const struct agent *agent)
{
	int64_t until_ns = agent->search_ns, left_ns;

	if (has_watch(agent) && agent->read_ns < until_ns)
		until_ns = agent->read_ns;
	if (has_budget(agent) && agent->budget_ns < until_ns)
		until_ns = agent->budget_ns;
	if (agent->due_ns < until_ns)
		until_ns = agent->due_ns;
	if (metrics_end_ns(&agent->metrics) < until_ns)
		until_ns = metrics_end_ns(&agent->metrics);
	left_ns = until_ns - until_now_ns();
	if (left_ns <= 0)
		return 0;
	return left_ns > 60000000000 ? 60000 : (int)((left_ns + 999999) / 1000000);
}

/*
 * Sleeps until a signal or a client arrives, a process ends, or the time of the next search or
 * reading is reached. Then the function does the work that is due, except for the search.
 */
static void wait_for_work(struct agent *agent)
{
	struct pollfd *poller = calloc(2 + METRICS_POLLS + agent->recorders, sizeof(*poller));
	struct pollfd *clients, *ends;
	int time_ms = sleep_ms(agent);
	struct ended ended;

	if (!poller) {
		usleep(100000);
		return;
	}
	poller[0] = (struct pollfd){ .fd = agent->signals.signals, .events = POLLIN };
	/* poll() ignores a negative descriptor. */
	poller[1] = (struct pollfd){ .fd = agent->keeps_waiting ? -1 : agent->control,
				     .events = POLLIN };
	clients = poller + 2;
	ends = clients + metrics_poll(agent, clients);
	for (size_t i = 0; i < agent->recorders; i++)
		ends[i] = (struct pollfd){ .fd = agent->recorder[i]->pidfd, .events = POLLIN };
	/*
	 * poll() refuses more elements than the limit of descriptors, which another process may
	 * have lowered. The agent then examines all processes, and clients wait.
	 */
	if (poll(poller, (nfds_t)(ends - poller) + agent->recorders, time_ms) < 0) {
		usleep(time_ms < 100 ? (useconds_t)time_ms * 1000 : 100000);
		for (size_t i = 0; i < agent->recorders; i++)
			ends[i].revents = POLLIN;
	}
	/*
	 * The loop runs backwards: if a recorder ends, the last recorder replaces it in the list,
	 * and the loop has already examined that last recorder.
	 */
	for (size_t i = agent->recorders; i-- > 0;)
		if (ends[i].revents && recorder_has_ended(agent->recorder[i], &ended))
			agent_process_ended(agent, i, &ended);
	if (poller[1].revents)
		agent_control_serve(agent);
	/*
	 * The agent answers requests for metrics after it has handled the ends of processes, so
	 * that the metrics have the last counts of these processes.
	 */
	if (ends > clients)
		metrics_serve(agent, clients);
	free(poller);
	if (has_watch(agent) && until_now_ns() >= agent->read_ns) {
		agent_read_watches(agent);
		agent->read_ns = until_now_ns() + INT64_C(1000000) * WATCH_READ_MS;
	}
	if (has_budget(agent) && until_now_ns() >= agent->budget_ns)
		keep_budgets(agent);
	if (until_now_ns() >= agent->due_ns)
		agent_write_due(agent);
	obey_signals(agent);
}

/*
 * The signals are blocked before the agent reports that it is ready, because an unblocked SIGUSR1
 * or SIGUSR2 would end the agent.
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
		say("agent: signals cannot be received: %s", say_strerror(err));
	return err ? TOOL_FAILURE : TOOL_OK;
}

/*
 * Ends all recorders. If the agent hands over to the next agent, it does not end its streams, but
 * exits immediately. The guardians then complete the logs, as they do if the agent is killed.
 */
static void end_agent(struct agent *agent)
{
	agent_control_close(agent);
	if (agent->reexecutes)
		_exit(TOOL_OK);
	while (agent->recorders)
		agent_end_recorder(agent, agent->recorders - 1, "stop", "the agent ends");
	/*
	 * Removes the file of the metrics. An agent that hands over has exited above and leaves the
	 * file, because the next agent soon replaces it.
	 */
	metrics_remove(agent);
	metrics_fini(&agent->metrics);
	agent_forget_refused(agent, true);
	free(agent->refused);
	free(agent->end);
	free(agent->fired);
	free(agent->recorder);
}

/*
 * Raises the limit of open descriptors, because each recorder needs four or more. The usual limit
 * of 1024 is for programs that use select(2), which the agent does not use. If the limit cannot be
 * raised, fewer processes are recorded.
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
 * Prints a message if the library cannot start guardians (posix_trace_create(3)). Without them the
 * agent works, but a kill of the agent loses the events of its streams.
 */
static void look_for_guardian(void)
{
	const char *path = secure_getenv("POSIXTRACE_GUARDIAN");

	if (!path)
		path = GUARDIAN_PATH;
	if (*path != '/' || access(path, X_OK))
		say("%s: %s: without this program, events are lost if the agent is killed; "
		    "POSIXTRACE_GUARDIAN can have its path", text_given(path),
		    *path == '/' ? say_strerror(errno) : "not an absolute path");
}

/*
 * By default glibc raises the size from which an allocation has a mapping of its own. Large tables
 * would then be taken from the heap, and calloc() would write zeros into all of their memory.
 */
static void limit_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

/*
 * The function performs all steps that can fail before it records the first process. Afterwards
 * only a signal ends the agent.
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
	limit_memory();
	status = store_open(&agent.store, agent.config->folder);
	if (!status)
		status = begin_signals(&agent);
	if (!status)
		status = metrics_listen(&agent);
	if (!status)
		status = agent_control_open(&agent);
	if (!status) {
		agent.begin_ns = until_now_ns();
		agent_begin_counts(&agent);
		look_for_guardian();
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
