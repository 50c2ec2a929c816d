/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* agent_fire.c - decides which trigger writes a log, and whether that log is held off. */
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/agent.h"
#include "base/say.h"
#include "base/vec.h"
#include "live/ended.h"

#define REASON_BYTES 400
/* the greatest hold-off after a log that could not be written */
#define FAILED_NS    INT64_C(1000000000)

/*
 * Returns the state of a trigger for a section. Makes the state if it does not exist. Returns NULL
 * if memory is lacking.
 */
static struct agent_fired *fired_of(struct agent *agent, const char *trigger, const char *record)
{
	struct agent_fired *fired;

	for (size_t i = 0; i < agent->fireds; i++)
		if (!strcmp(agent->fired[i].trigger, trigger) &&
		    !strcmp(agent->fired[i].record, record))
			return &agent->fired[i];
	if (!vec_grow(&agent->fired, agent->fireds, 1))
		return NULL;
	fired = &agent->fired[agent->fireds++];
	snprintf(fired->trigger, sizeof(fired->trigger), "%s", trigger);
	snprintf(fired->record, sizeof(fired->record), "%s", record);
	return fired;
}

void agent_begin_counts(struct agent *agent)
{
	const struct config *config = agent->config;

	for (size_t i = 0; i < config->records; i++) {
		const char *record = config->record[i]->name;

		metrics_record_of(&agent->metrics, record);
		for (size_t k = 0; k < config->triggers; k++)
			if (config_matches(&config->trigger[k]->record, record))
				fired_of(agent, config->trigger[k]->name, record);
	}
	agent->due_ns = 0;
}

/* Adds to the reason of a log the number of logs that were held off before this log. */
static void add_held_off(const struct agent_fired *fired, char reason[REASON_BYTES])
{
	const size_t len = strlen(reason);

	if (fired->held_off_since)
		snprintf(reason + len, REASON_BYTES - len, "; %llu held off since the last log",
			 (unsigned long long)fired->held_off_since);
}

/* Adds to the reason of a log that the log has only the events of this time. */
static void add_last(int64_t last_ns, char reason[REASON_BYTES])
{
	const size_t len = strlen(reason);

	if (last_ns)
		snprintf(reason + len, REASON_BYTES - len, "; only the last %gs",
			 (double)last_ns / 1e9);
}

/* Begins the hold-off of a trigger, and counts its log as written or failed. */
static void count_fired(struct agent_fired *fired, bool is_written)
{
	fired->has_fired = true;
	fired->has_failed = !is_written;
	fired->last_ns = until_now_ns();
	if (is_written) {
		fired->held_off_since = 0;
		fired->logs++;
	} else {
		fired->failed++;
	}
}

/*
 * Prints the path of a new log and frees the path. If "path" is NULL, there is no log, and the
 * function prints nothing.
 */
static void say_log(char *path, const char *trigger, const char *reason)
{
	if (path)
		say("%s: trigger %s: %s", path, trigger, reason);
	free(path);
}

/*
 * Returns whether the trigger must wait, because its hold-off is not over. If so, counts the log
 * that is not written as held off. Each section has its own hold-off for a trigger. After a log
 * that could not be written, the trigger waits for a second or less. Without this wait, the agent
 * would copy a stream at each reading of watches while the quota is full.
 */
static bool hold_off(struct agent_fired *fired, int64_t hold_off_ns)
{
	if (fired->has_failed && hold_off_ns > FAILED_NS)
		hold_off_ns = FAILED_NS;
	if (!fired->has_fired || !hold_off_ns || until_now_ns() - fired->last_ns >= hold_off_ns)
		return false;
	fired->held_off++;
	fired->held_off_since++;
	return true;
}

/*
 * Returns whether a trigger concerns this end of a process. SIGHUP, SIGINT, SIGPIPE and SIGTERM
 * count as requests to end and not as crashes. If the status is unknown, the process may have
 * crashed, so the function returns true.
 */
static bool fits_end(enum config_when when, const struct ended *ended)
{
	int sig;

	if (when != CONFIG_CRASH && when != CONFIG_FAILURE && when != CONFIG_END)
		return false;
	if (when == CONFIG_END || !ended->is_known)
		return true;
	if (WIFSIGNALED(ended->status)) {
		sig = WTERMSIG(ended->status);
		return sig != SIGHUP && sig != SIGINT && sig != SIGPIPE && sig != SIGTERM;
	}
	return when == CONFIG_FAILURE && WEXITSTATUS(ended->status);
}

/* Removes a recorder from the list. The last recorder replaces it. */
static void forget_recorder(struct agent *agent, size_t index)
{
	agent->recorder[index] = agent->recorder[--agent->recorders];
	agent->has_freed = true;
}

/*
 * Ends a recorder, and keeps the events of the last last_ns nanoseconds, or all events if last_ns
 * is 0. The recorder is removed from the list before it is ended, because ending it may take time
 * and print messages.
 */
static void end_recorder(struct agent *agent, size_t index, const char *trigger,
			 const char *reason, int64_t last_ns)
{
	struct recorder *recorder = agent->recorder[index];
	char *path;

	forget_recorder(agent, index);
	/* The recording ends a little later than noted, so a log never states too short a gap. */
	agent_note_end(agent, recorder->pid, recorder->start, store_now_ms());
	recorder_end(recorder, &agent->store, agent->config, &agent->metrics, NULL, trigger, reason,
		     last_ns, &path);
	/* A log that was not moved to logs/ may remain in flight/. */
	agent->has_leftovers |= trigger && !path;
	say_log(path, trigger, reason);
}

void agent_end_recorder(struct agent *agent, size_t index, const char *trigger, const char *reason)
{
	end_recorder(agent, index, trigger, reason, 0);
}

/*
 * The flight logs were removed. With a last_ns other than 0, recorder_end() keeps a copy of the
 * stream instead of the flight log. With INT64_MAX, the copy has all events.
 */
void agent_lost_flight(struct agent *agent)
{
	while (agent->recorders)
		end_recorder(agent, agent->recorders - 1, "error",
			     "the file of the recorder was removed from flight/", INT64_MAX);
}

/* If the trigger has fired in the watch, returns its rule, otherwise NULL. "watch" may be NULL. */
static const struct watch_rule *rule_fired(const struct watch *watch,
					   const struct config_trigger *trigger)
{
	for (size_t i = 0; watch && i < watch->rules; i++)
		if (watch->rule[i].trigger == trigger && watch->rule[i].has_fired)
			return &watch->rule[i];
	return NULL;
}

/*
 * Writes the reason why a rule has fired. The name of the program is shortened if it is long, so
 * that the rest of the text always fits.
 */
static void rule_reason(char reason[REASON_BYTES], const struct recorder *recorder,
			const struct watch_rule *rule)
{
	snprintf(reason, REASON_BYTES, "process %d (%.40s): %s", (int)recorder->pid,
		 recorder->program, rule->reason);
}

/*
 * The last events of the process may fire a trigger on spans, errors or rules, so the function
 * reads the watch first. At the end of a process only one log is written: the log of the first
 * trigger that fits and is not held off. If an earlier trigger fits but is held off, the log counts
 * as held off for that earlier trigger.
 */
void agent_process_ended(struct agent *agent, size_t index, const struct ended *ended)
{
	struct recorder *recorder = agent->recorder[index];
	const struct config_trigger *chosen = NULL;
	struct agent_fired *state = NULL;
	char reason[REASON_BYTES], text[ENDED_TEXT], *path;

	ended_text(text, ended);
	snprintf(reason, sizeof(reason), "process %d (%.200s) %s", (int)recorder->pid,
		 recorder->program, text);
	if (recorder->watch)
		watch_read_last(recorder->watch);
	/* The triggers are tested in the order of the configuration file. */
	for (size_t i = 0; i < agent->config->triggers && !chosen; i++) {
		const struct config_trigger *trigger = agent->config->trigger[i];
		const struct watch_rule *rule = rule_fired(recorder->watch, trigger);

		if (!config_matches(&trigger->record, recorder->record->name) ||
		    (!rule && !fits_end(trigger->when, ended)))
			continue;
		state = fired_of(agent, trigger->name, recorder->record->name);
		if (state && !hold_off(state, trigger->hold_off_ns)) {
			chosen = trigger;
			if (rule)
				rule_reason(reason, recorder, rule);
		}
	}
	if (chosen) {
		add_held_off(state, reason);
		add_last(chosen->last_ns, reason);
	}
	forget_recorder(agent, index);
	recorder_end(recorder, &agent->store, agent->config, &agent->metrics, ended,
		     chosen ? chosen->name : NULL, reason, chosen ? chosen->last_ns : 0, &path);
	agent->has_leftovers |= chosen && !path;
	if (chosen)
		count_fired(state, path != NULL);
	say_log(path, chosen ? chosen->name : NULL, reason);
}

/*
 * Writes the log of a trigger that has fired in a watch, unless it is held off. The reason why logs
 * cannot be written is printed once a minute.
 */
static void fire_watch(struct agent *agent, struct recorder *recorder,
		       const struct watch_rule *rule)
{
	struct agent_fired *state = fired_of(agent, rule->trigger->name, recorder->record->name);
	struct recorder_log log = { .recorder = recorder };
	char reason[REASON_BYTES], messages[RECORDER_REASON];

	if (!state || hold_off(state, rule->trigger->hold_off_ns))
		return;
	rule_reason(reason, recorder, rule);
	add_held_off(state, reason);
	add_last(rule->trigger->last_ns, reason);
	say_keep(messages, sizeof(messages));
	recorder_snapshot(&log, 1, &agent->store, agent->config, rule->trigger->name, reason,
			  rule->trigger->last_ns);
	say_keep(NULL, 0);
	/* A trigger whose logs cannot be written tries again after a second, or sooner. */
	if (*messages && (log.is_written || agent_is_due(&state->said_ns)))
		say("%s", agent_one_line(messages));
	if (log.is_written)
		state->said_ns = 0;
	count_fired(state, log.is_written);
	say_log(log.path, rule->trigger->name, reason);
}

/*
 * After each reading, a rule writes at most one log, even if the rule has fired several times. This
 * log has all events of the reading.
 */
void agent_read_watches(struct agent *agent)
{
	for (size_t i = 0; i < agent->recorders; i++) {
		struct watch *watch = agent->recorder[i]->watch;

		if (!watch)
			continue;
		watch_read(watch);
		for (size_t k = 0; k < watch->rules; k++) {
			if (watch->rule[k].has_fired)
				fire_watch(agent, agent->recorder[i], &watch->rule[k]);
			watch->rule[k].has_fired = false;
		}
	}
}

/*
 * Returns whether "name" selects the recorder. A name that consists of digits is the number of a
 * process.
 */
static bool is_selected(const struct recorder *recorder, const char *name)
{
	if (*name && !name[strspn(name, "0123456789")])
		return recorder->pid == atoi(name);
	return fnmatch(name, recorder->record->name, 0) == 0;
}

/*
 * Counts the logs of the list, prints their paths, and frees them. Also writes the paths to
 * "answer" if it is not NULL. Returns the number of written logs.
 */
static size_t report_logs(struct agent *agent, struct recorder_log *list, size_t count,
			  const char *trigger, const char *reason, FILE *answer)
{
	size_t logs = 0;

	for (size_t i = 0; i < count; i++) {
		struct agent_fired *state = fired_of(agent, trigger,
						     list[i].recorder->record->name);

		if (state)
			++*(list[i].is_written ? &state->logs : &state->failed);
		logs += list[i].is_written;
		if (answer && list[i].path)
			fprintf(answer, "%s\n", list[i].path);
		say_log(list[i].path, trigger, reason);
	}
	return logs;
}

/*
 * Writes a log of each process of a section for a trigger "every". A reason why a log cannot be
 * written is printed once a minute.
 */
static void write_section(struct agent *agent, struct agent_fired *state,
			  const struct config_trigger *trigger)
{
	struct recorder_log *list = calloc(agent->recorders + 1, sizeof(*list));
	char reason[REASON_BYTES], messages[RECORDER_REASON];
	size_t count = 0;

	if (!list)
		return;
	for (size_t i = 0; i < agent->recorders; i++)
		if (!strcmp(agent->recorder[i]->record->name, state->record))
			list[count++].recorder = agent->recorder[i];
	snprintf(reason, sizeof(reason), "%s", trigger->when_text);
	add_last(trigger->last_ns, reason);
	say_keep(messages, sizeof(messages));
	recorder_snapshot(list, count, &agent->store, agent->config, trigger->name, reason,
			  trigger->last_ns);
	say_keep(NULL, 0);
	if (*messages && agent_is_due(&state->said_ns))
		say("%s", agent_one_line(messages));
	report_logs(agent, list, count, trigger->name, reason, NULL);
	free(list);
}

/* A trigger "every" needs no hold-off, because the time between its logs is fixed. */
static void write_if_due(struct agent *agent, const struct config_trigger *trigger,
			 const char *record)
{
	struct agent_fired *state = fired_of(agent, trigger->name, record);
	const int64_t now_ns = until_now_ns();
	int64_t due_ns;

	if (!state)
		return;
	if (!state->last_ns)
		state->last_ns = now_ns;
	if (now_ns - state->last_ns >= trigger->span_ns) {
		/* Set before the logs are written, so that writing them does not delay the next. */
		state->last_ns = now_ns;
		write_section(agent, state, trigger);
	}
	due_ns = state->last_ns + trigger->span_ns;
	if (due_ns < agent->due_ns)
		agent->due_ns = due_ns;
}

void agent_write_due(struct agent *agent)
{
	const struct config *config = agent->config;

	agent->due_ns = INT64_MAX;
	for (size_t k = 0; k < config->triggers; k++)
		for (size_t i = 0; config->trigger[k]->when == CONFIG_EVERY && i < config->records;
		     i++)
			if (config_matches(&config->trigger[k]->record, config->record[i]->name))
				write_if_due(agent, config->trigger[k], config->record[i]->name);
}

/* A snapshot that a user requests is never held off. */
size_t agent_snapshot(struct agent *agent, const char *name, const char *trigger,
		      const char *why, int64_t last_ns, FILE *answer, size_t *matched)
{
	struct recorder_log *list = calloc(agent->recorders + 1, sizeof(*list));
	char reason[REASON_BYTES];
	size_t logs;

	*matched = 0;
	snprintf(reason, sizeof(reason), "%s", why);
	add_last(last_ns, reason);
	for (size_t i = 0; i < agent->recorders; i++)
		if (is_selected(agent->recorder[i], name) && list)
			list[(*matched)++].recorder = agent->recorder[i];
	if (!list)
		say("%s", strerror(ENOMEM));
	recorder_snapshot(list, *matched, &agent->store, agent->config, trigger, reason, last_ns);
	logs = report_logs(agent, list, *matched, trigger, reason, answer);
	free(list);
	return logs;
}
