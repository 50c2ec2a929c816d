/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* metrics.c - collects the counts of all recorders, and writes them as text for Prometheus. */
#include "agent/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/say.h"
#include "base/vec.h"
#include "base/whole.h"

#define WRITE_NS INT64_C(1000000000) /* the shortest time between two writes of the file */
#define SAY_AGAIN_NS INT64_C(60000000000) /* until a message about a failed write is repeated */

/*
 * Copies a name so that it can be the value of a label. Bytes that are not printable ASCII, and
 * characters that the format escapes, become "?". If two names become equal, they have one common
 * series, because a text with two equal series is invalid.
 */
static void label_copy(char to[METRICS_NAME], const char *from)
{
	size_t len = 0;

	for (; from[len] && len < METRICS_NAME - 1; len++)
		to[len] = from[len] < ' ' || from[len] > '~' || strchr("\"\\", from[len])
				  ? '?'
				  : from[len];
	to[len] = '\0';
}

/* The list has only as many elements as there are sections, so a linear search is fast enough. */
struct metrics_record *metrics_record_of(struct metrics *metrics, const char *record)
{
	struct metrics_record *one;

	for (size_t i = 0; i < metrics->records; i++)
		if (!strcmp(metrics->record[i].record, record))
			return &metrics->record[i];
	if (!vec_grow(&metrics->record, metrics->records, 1))
		return NULL;
	one = &metrics->record[metrics->records++];
	label_copy(one->record, record);
	return one;
}

/* Searches the list for a series. If the series exists, stores its index and returns true. */
static bool find_series(const struct metrics_list *list, const char *record, const char *label,
			size_t *index)
{
	for (*index = 0; *index < list->count; ++*index)
		if (!strcmp(list->series[*index].name, label) &&
		    !strcmp(list->series[*index].record, record))
			return true;
	return false;
}

/*
 * The function compares the name with all series. The caller keeps the index, so there is only one
 * search for each type or span of a process.
 */
bool metrics_find(struct metrics_list *list, const char *record, const char *name, size_t *index)
{
	char label[METRICS_NAME];

	label_copy(label, name);
	if (find_series(list, record, label, index))
		return true;
	/* If the list is full, a name that has no series yet is counted in the series "other". */
	if (list->count >= METRICS_SERIES) {
		label_copy(label, "other");
		if (find_series(list, record, label, index))
			return true;
	}
	if (!vec_grow(&list->series, list->count, 1))
		return false;
	*index = list->count++;
	label_copy(list->series[*index].record, record);
	strcpy(list->series[*index].name, label);
	return true;
}

/*
 * A span that is longer than the greatest bound is in no bucket. Only the member "count" counts
 * such a span. "count" is written as the bucket "+Inf".
 */
void metrics_add_span(struct metrics_series *series, uint64_t time_ns)
{
	uint64_t bound = 1000;

	series->count++;
	series->seconds += (double)time_ns / 1e9;
	for (int i = 0; i < METRICS_BUCKETS; i++, bound *= 10)
		if (time_ns <= bound) {
			series->bucket[i]++;
			return;
		}
}

/* Afterwards the struct is empty and has no port. */
void metrics_fini(struct metrics *metrics)
{
	free(metrics->record);
	free(metrics->types.series);
	free(metrics->spans.series);
	metrics_close(metrics);
	*metrics = (struct metrics){ .listener = -1 };
}

/* Writes the two lines that precede the series of a metric. */
static void put_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/*
 * Writes for each section the number of events, and the number of lost events by cause. A cause
 * without losses has the value 0.
 */
static void put_records(FILE *out, const struct metrics *metrics)
{
	put_head(out, "posixtrace_events_total", "counter",
		 "Events that processes recorded, or tried to record.");
	for (size_t i = 0; i < metrics->records; i++)
		fprintf(out, "posixtrace_events_total{record=\"%s\"} %llu\n",
			metrics->record[i].record, (unsigned long long)metrics->record[i].events);
	put_head(out, "posixtrace_events_lost_total", "counter",
		 "Events that no log can have, by cause. Flight recorders overwrite old events.");
	for (size_t i = 0; i < metrics->records; i++)
		for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
			fprintf(out,
				"posixtrace_events_lost_total{record=\"%s\",cause=\"%s\"} %llu\n",
				metrics->record[i].record, posix_trace_lost_name_np(cause),
				(unsigned long long)metrics->record[i].lost[cause]);
}

/* Writes for each section the number of processes that are recorded now, even if it is 0. */
static void put_processes(FILE *out, const struct agent *agent)
{
	put_head(out, "posixtrace_processes", "gauge", "Processes that are recorded now.");
	for (size_t i = 0; i < agent->config->records; i++) {
		const char *name = agent->config->record[i]->name;
		size_t count = 0;

		for (size_t k = 0; k < agent->recorders; k++)
			count += !strcmp(agent->recorder[k]->record->name, name);
		fprintf(out, "posixtrace_processes{record=\"%s\"} %zu\n", name, count);
	}
}

/* Writes for each section the number of recorded processes that lack their watch. */
static void put_unwatched(FILE *out, const struct agent *agent)
{
	put_head(out, "posixtrace_processes_unwatched", "gauge",
		 "Recorded processes without the durations and triggers on events that the "
		 "configuration requires.");
	for (size_t i = 0; i < agent->config->records; i++) {
		const char *name = agent->config->record[i]->name;
		size_t count = 0;

		for (size_t k = 0; k < agent->recorders; k++)
			count += *agent->recorder[k]->unwatched &&
				 !strcmp(agent->recorder[k]->record->name, name);
		fprintf(out, "posixtrace_processes_unwatched{record=\"%s\"} %zu\n", name, count);
	}
}

/* Writes for each section the number of processes that are not recorded, by the kind of reason. */
static void put_refused(FILE *out, const struct agent *agent)
{
	put_head(out, "posixtrace_processes_refused", "gauge",
		 "Processes that the configuration names and that are not recorded now.");
	for (size_t i = 0; i < agent->config->records; i++)
		for (int why = 0; why < AGENT_REFUSALS; why++) {
			const char *name = agent->config->record[i]->name;
			size_t count = 0;

			for (size_t k = 0; k < agent->refuseds; k++)
				count += (int)agent->refused[k].why == why &&
					 !strcmp(agent->refused[k].record, name);
			fprintf(out,
				"posixtrace_processes_refused{record=\"%s\",reason=\"%s\"} %zu\n",
				name, agent_refusal_name[why], count);
		}
}

/*
 * Writes the event types and spans of the sections with durations.
 *
 * The bounds have the form in which Prometheus itself prints them, so that the label le has the
 * value that a rule uses. In the format of Prometheus, each bucket contains all lower buckets, so
 * the function writes sums of buckets.
 */
static void put_series(FILE *out, const struct metrics *metrics)
{
	static const char *const bounds[METRICS_BUCKETS] = {
		"1e-06", "1e-05", "0.0001", "0.001", "0.01", "0.1", "1", "10",
	};
	static const char span[] = "posixtrace_span_duration_seconds";

	put_head(out, "posixtrace_typed_events_total", "counter",
		 "Events by type, of sections with durations.");
	for (size_t i = 0; i < metrics->types.count; i++) {
		const struct metrics_series *one = &metrics->types.series[i];

		fprintf(out, "posixtrace_typed_events_total{record=\"%s\",event=\"%s\"} %llu\n",
			one->record, one->name, (unsigned long long)one->count);
	}
	put_head(out, span, "histogram", "Durations of spans and calls that the agent has read.");
	for (size_t i = 0; i < metrics->spans.count; i++) {
		const struct metrics_series *one = &metrics->spans.series[i];
		uint64_t sum = 0;

		for (int k = 0; k < METRICS_BUCKETS; k++) {
			sum += one->bucket[k];
			fprintf(out, "%s_bucket{record=\"%s\",span=\"%s\",le=\"%s\"} %llu\n", span,
				one->record, one->name, bounds[k], (unsigned long long)sum);
		}
		fprintf(out, "%s_bucket{record=\"%s\",span=\"%s\",le=\"+Inf\"} %llu\n", span,
			one->record, one->name, (unsigned long long)one->count);
		fprintf(out, "%s_sum{record=\"%s\",span=\"%s\"} %.9g\n", span, one->record,
			one->name, one->seconds);
		fprintf(out, "%s_count{record=\"%s\",span=\"%s\"} %llu\n", span, one->record,
			one->name, (unsigned long long)one->count);
	}
}

/*
 * Writes the numbers of logs that triggers have written and held off, of logs that were removed,
 * and of logs in the folder.
 */
static void put_logs(FILE *out, const struct agent *agent)
{
	put_head(out, "posixtrace_logs_written_total", "counter", "Logs of triggers.");
	for (size_t i = 0; i < agent->fireds; i++)
		fprintf(out, "posixtrace_logs_written_total{record=\"%s\",trigger=\"%s\"} %llu\n",
			agent->fired[i].record, agent->fired[i].trigger,
			(unsigned long long)agent->fired[i].logs);
	put_head(out, "posixtrace_logs_held_off_total", "counter",
		 "Logs that a trigger did not write because of its hold-off.");
	for (size_t i = 0; i < agent->fireds; i++)
		fprintf(out, "posixtrace_logs_held_off_total{record=\"%s\",trigger=\"%s\"} %llu\n",
			agent->fired[i].record, agent->fired[i].trigger,
			(unsigned long long)agent->fired[i].held_off);
	put_head(out, "posixtrace_logs_failed_total", "counter",
		 "Logs of triggers that could not be written, or that the quota refused.");
	for (size_t i = 0; i < agent->fireds; i++)
		fprintf(out, "posixtrace_logs_failed_total{record=\"%s\",trigger=\"%s\"} %llu\n",
			agent->fired[i].record, agent->fired[i].trigger,
			(unsigned long long)agent->fired[i].failed);
	put_head(out, "posixtrace_logs_removed_total", "counter",
		 "Logs that were removed for the quota or for their age, or refused by the quota.");
	fprintf(out, "posixtrace_logs_removed_total{reason=\"quota\"} %llu\n",
		(unsigned long long)agent->store.removed);
	fprintf(out, "posixtrace_logs_removed_total{reason=\"expired\"} %llu\n",
		(unsigned long long)agent->store.expired);
	fprintf(out, "posixtrace_logs_removed_total{reason=\"refused\"} %llu\n",
		(unsigned long long)agent->store.refused);
	put_head(out, "posixtrace_kept_logs", "gauge", "Logs in the folder.");
	fprintf(out, "posixtrace_kept_logs %llu\n", (unsigned long long)agent->store.count);
	put_head(out, "posixtrace_kept_logs_size_bytes", "gauge",
		 "Bytes of the logs in the folder.");
	fprintf(out, "posixtrace_kept_logs_size_bytes %llu\n",
		(unsigned long long)agent->store.bytes);
}

/*
 * The counts of all recorders are updated first. The text also has the time at which it was made,
 * so that a rule of Prometheus can detect that the agent no longer writes the file.
 */
char *metrics_text(struct agent *agent, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out)
		return NULL;
	recorder_count_all(agent->recorder, agent->recorders);
	for (size_t i = 0; i < agent->recorders; i++)
		recorder_add_counts(agent->recorder[i], &agent->metrics);
	put_head(out, "posixtrace_agent_start_time_seconds", "gauge",
		 "When the agent began, since 1970.");
	fprintf(out, "posixtrace_agent_start_time_seconds %lld\n", (long long)agent->began);
	put_head(out, "posixtrace_agent_update_time_seconds", "gauge",
		 "When these values were collected, since 1970.");
	fprintf(out, "posixtrace_agent_update_time_seconds %lld\n", (long long)time(NULL));
	put_processes(out, agent);
	put_refused(out, agent);
	put_unwatched(out, agent);
	put_records(out, &agent->metrics);
	put_series(out, &agent->metrics);
	put_logs(out, agent);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* Writes a new file and renames it, so that a collector never reads an incomplete file. */
static int write_file(const char *path, const char *text, size_t len)
{
	char *made = NULL;
	int fd = -1, err = asprintf(&made, "%s.new", path) < 0 ? ENOMEM : 0;

	if (err)
		return err;
	/*
	 * The mode is 0644 and not the mode of a log, because collectors of other users read the
	 * metrics.
	 */
	fd = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	/* fchmod() is needed because the umask may be strict, for example in a unit of systemd. */
	err = fd < 0 || fchmod(fd, 0644) ? errno : whole_write(fd, text, len);
	if (fd >= 0 && close(fd) && !err)
		err = errno;
	if (!err && rename(made, path))
		err = errno;
	if (err)
		unlink(made);
	free(made);
	return err;
}

/*
 * Prints an error of a write. The error is printed again after a minute, and not at each write, so
 * that a full disk does not fill the journal.
 */
static void say_write(struct metrics *metrics, const char *path, int err, int64_t now_ns)
{
	if (err && (err != metrics->write_err || now_ns - metrics->said_ns >= SAY_AGAIN_NS)) {
		say("%s: %s; the metrics in this file are old until a write succeeds", path,
		    say_strerror(err));
		metrics->said_ns = now_ns;
	} else if (!err && metrics->write_err) {
		say("%s: written again", path);
	}
	metrics->write_err = err;
}

void metrics_write(struct agent *agent)
{
	const char *path = agent->config->textfile;
	const int64_t now_ns = until_now_ns();
	size_t len;
	char *text;
	int err;

	/*
	 * At the agent's start (written_ns is 0) the function writes the file immediately, so that
	 * a collector need not wait.
	 */
	if (!path || (agent->metrics.written_ns && now_ns - agent->metrics.written_ns < WRITE_NS))
		return;
	agent->metrics.written_ns = now_ns;
	text = metrics_text(agent, &len);
	err = text ? write_file(path, text, len) : ENOMEM;
	say_write(&agent->metrics, path, err, now_ns);
	free(text);
}

/*
 * The file is removed, because constant values of an agent that has ended would look like a machine
 * without events. A killed agent leaves the file. The time in this file shows that its values are
 * old.
 */
void metrics_remove(struct agent *agent)
{
	if (agent->config->textfile && agent->metrics.written_ns)
		unlink(agent->config->textfile);
	agent->metrics.written_ns = 0;
	agent->metrics.write_err = 0;
}
