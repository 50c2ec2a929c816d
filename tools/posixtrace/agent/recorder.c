/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recorder.c - begins, copies and ends the flight recorder of a process. */
#include "agent/recorder.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/say.h"
#include "base/tool.h"
#include "base/when.h"
#include "live/ended.h"
#include "live/preload.h"

/* greatest number of bytes of a field of the agent's event; a longer text loses its end */
#define TEXT_BYTES 400

/*
 * Frees a recorder that recorder_new() has made. The caller must have ended the stream and the
 * injection before.
 */
static void recorder_free(struct recorder *recorder)
{
	if (recorder->pidfd >= 0)
		close(recorder->pidfd);
	if (recorder->fd >= 0)
		close(recorder->fd);
	choose_fini(&recorder->plan.choose);
	config_drop(recorder->config);
	free(recorder->executable);
	free(recorder->path);
	free(recorder);
}

/*
 * Adds the patterns of the section to the plan. If the section chooses event types, the agent's own
 * events are chosen, too.
 */
static bool choose_events(struct capture_plan *plan, const struct config_record *record)
{
	bool good = true;

	for (size_t i = 0; i < record->event.count; i++)
		good = good && capture_take_event(plan, record->event.word[i]);
	if (record->event.count)
		good = good && capture_take_event(plan, RECORDER_EVENT) &&
		       capture_take_event(plan, BUDGET_EVENT) &&
		       capture_take_event(plan, ENDED_EVENT);
	for (size_t i = 0; i < record->exclude.count; i++)
		good = good && capture_take_exclude(plan, record->exclude.word[i]);
	return good;
}

/*
 * Makes the recorder without its stream, and opens the pidfd. The caller then reads the start time
 * of the process again. If this time equals the time that the search found, the pidfd belongs to
 * the right process and not to a later process with the same number.
 */
static struct recorder *recorder_new(struct config *config, const struct store *store,
				     const struct found *found)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));

	if (!recorder)
		return NULL;
	recorder->config = config_use(config);
	recorder->record = found->record;
	recorder->pid = found->pid;
	recorder->start = found->start;
	recorder->fd = -1;
	recorder->pidfd = (int)syscall(SYS_pidfd_open, found->pid, 0);
	recorder->executable = strdup(found->executable);
	snprintf(recorder->flight.record, sizeof(recorder->flight.record), "%s",
		 found->record->name);
	recorder->flight.pid = found->pid;
	recorder->flight.ms = store_now_ms();
	store_flight_name(recorder->name, &recorder->flight);
	if (asprintf(&recorder->path, "%s/flight/%s", store->folder, recorder->name) < 0)
		recorder->path = NULL;
	process_name(recorder->program, found->pid);
	recorder->plan = (struct capture_plan)CAPTURE_PLAN_DEFAULT;
	choose_init(&recorder->plan.choose);
	recorder->plan.pid = found->pid;
	recorder->plan.path = recorder->path;
	recorder->plan.families = found->record->families;
	recorder->plan.stream_policy = POSIX_TRACE_LOOP;
	recorder->plan.stream_size = found->record->size;
	recorder->plan.size_key = "the key size";
	recorder->plan.compression = found->record->compression;
	recorder->plan.budget = config_budget(config, found->record);
	if (recorder->executable && recorder->path && choose_events(&recorder->plan, found->record))
		return recorder;
	recorder_free(recorder);
	return NULL;
}

/*
 * Returns whether the user may create a further stream. To find out, the function creates a stream
 * of the agent itself. It is called after another creation has failed. That creation may have
 * failed because of the limit for one process and its family, which does not concern other
 * processes.
 */
static bool has_stream_left(void)
{
	trace_attr_t attr;
	trace_id_t trid;
	int err = posix_trace_attr_init(&attr);

	if (err)
		return false;
	err = posix_trace_create(0, &attr, &trid);
	posix_trace_attr_destroy(&attr);
	if (!err)
		posix_trace_shutdown(trid);
	return err != EAGAIN;
}

/* Returns the result for the error of a stream that could not be created. */
static enum recorder_begun failed_begun(int err)
{
	return err == EAGAIN && !has_stream_left() ? RECORDER_FULL : RECORDER_FAILED;
}

/*
 * Creates the stream. If the section has the key inject, the function loads the shim into the
 * process before it creates the stream. So the event types have their names before the first event,
 * and the filter can choose the types by name.
 */
static enum recorder_begun open_stream(struct recorder *recorder, const struct store *store)
{
	bool begun;

	/*
	 * inject_end() needs the member "pid". So this function sets "pid" even if it loads no
	 * library. In this case is_attached is false, and inject_end() does nothing.
	 */
	recorder->inject.pid = recorder->pid;
	if (recorder->record->injects &&
	    preload_inject(&recorder->inject, recorder->pid, recorder->plan.families,
			   recorder->plan.inherit))
		return RECORDER_FAILED;
	recorder->fd = store_create(store, recorder->name);
	begun = recorder->fd >= 0 &&
		!capture_begin(&recorder->capture, &recorder->plan, recorder->fd);
	if (!begun) {
		if (recorder->fd >= 0)
			store_drop(store, recorder->name);
		inject_end(&recorder->inject);
	}
	if (begun)
		return RECORDER_BEGUN;
	return failed_begun(recorder->capture.err);
}

/*
 * The first event of the stream has the name of the section. As long as this event is not
 * overwritten, each log has the reason why the process was recorded.
 */
enum recorder_begun recorder_begin(struct recorder **result, struct config *config,
				   const struct store *store, const struct found *found)
{
	struct recorder *recorder = recorder_new(config, store, found);
	enum recorder_begun begun;
	char reason[TEXT_BYTES];

	if (!recorder) {
		say("%s", strerror(ENOMEM));
		return RECORDER_FAILED;
	}
	if (recorder->pidfd < 0 || find_start(found->pid) != found->start) {
		recorder_free(recorder);
		return RECORDER_GONE;
	}
	begun = open_stream(recorder, store);
	if (begun != RECORDER_BEGUN) {
		recorder_free(recorder);
		return begun;
	}
	/*
	 * If this agent is killed, the stream continues for RECORDER_LINGER_MS. So an agent that
	 * starts soon can create its stream before the guardian stops this stream.
	 */
	posix_trace_set_linger_np(recorder->capture.trid, RECORDER_LINGER_MS);
	snprintf(reason, sizeof(reason), "[record %s] names process %d (%.200s)",
		 found->record->name, (int)found->pid, found->executable);
	recorder_note(recorder, "begin", "", reason);
	*result = recorder;
	return RECORDER_BEGUN;
}

/*
 * The pidfd becomes readable when the last thread of the process has ended, even if the parent has
 * not waited for the process.
 */
bool recorder_has_ended(const struct recorder *recorder, struct ended *ended)
{
	struct pollfd poller = { .fd = recorder->pidfd, .events = POLLIN };

	if (poll(&poller, 1, 0) != 1)
		return false;
	*ended = ended_of(recorder->pidfd, recorder->pid);
	return true;
}

/* capture_look() also adds new event types to the filter, and detects an error of the log. */
bool recorder_look(struct recorder *recorder)
{
	return capture_look(&recorder->capture) == TOOL_OK;
}

bool recorder_look_budget(struct recorder *recorder)
{
	return capture_look_budget(&recorder->capture) == TOOL_OK;
}

/* The argument of count_stream(). */
struct count {
	struct recorder *const *recorder;
	size_t recorders;
};

/*
 * Returns whether the stream belongs to this recorder. The names of two streams of a process
 * differ, because the name contains the time at which the recorder began.
 */
static bool is_own_stream(const struct recorder *recorder,
			  const struct posix_trace_stream_np *stream)
{
	return stream->creator == getpid() && !strcmp(stream->name, recorder->name);
}

/*
 * posix_trace_observe_np() calls this function for each stream of the host. Some causes of loss are
 * known only to a reader. Their counts are 0, because this stream has no reader.
 */
static void count_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	const struct count *count = arg;
	struct metrics_record *seen = NULL;

	for (size_t i = 0; !seen && i < count->recorders; i++)
		if (count->recorder[i]->pid == stream->pid &&
		    is_own_stream(count->recorder[i], stream))
			seen = &count->recorder[i]->seen;
	if (!seen)
		return;
	/*
	 * stream->recorded includes the events that were overwritten. Events that were lost for
	 * other causes were never recorded, so their number is added.
	 */
	seen->events = stream->recorded;
	for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++) {
		seen->lost[cause] = stream->lost[cause];
		if (cause != POSIX_TRACE_LOST_OVERWRITTEN_NP)
			seen->events += stream->lost[cause];
	}
}

/*
 * An observer does not change the stream or its content, and does not delay writers. To find the
 * streams of one process, an observer searches the files of all processes. So the function examines
 * all streams in one search.
 */
void recorder_count_all(struct recorder *const *recorder, size_t recorders)
{
	struct count count = { recorder, recorders };

	if (recorders)
		posix_trace_observe_np(POSIX_TRACE_EVERY_PROCESS_NP, count_stream, &count);
}

/*
 * Adds the growth of a count since the last call to *to. While writers are busy, an observer may
 * read a lower count than before. In this case *to remains unchanged until the count exceeds its
 * former value.
 */
static void add_growth(uint64_t *to, uint64_t *before, uint64_t now)
{
	if (now <= *before)
		return;
	*to += now - *before;
	*before = now;
}

/* Adds the growth of this recorder's counts to the counts of its section. */
static void add_to_metrics(struct recorder *recorder, struct metrics *metrics,
			   const struct metrics_record *now)
{
	struct metrics_record *to = metrics_record_of(metrics, recorder->record->name);

	if (!to)
		return;
	add_growth(&to->events, &recorder->counted.events, now->events);
	for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		add_growth(&to->lost[cause], &recorder->counted.lost[cause], now->lost[cause]);
}

void recorder_add_counts(struct recorder *recorder, struct metrics *metrics)
{
	add_to_metrics(recorder, metrics, &recorder->seen);
	if (recorder->watch)
		watch_add_counts(recorder->watch);
}

/*
 * Adds the last growth of the counts to the metrics. The function reads the counts in the ledger of
 * the complete log, because they are exact there.
 */
static void add_last_counts(struct recorder *recorder, struct metrics *metrics)
{
	struct posix_trace_ledger_np ledger;
	struct metrics_record now = { .events = 0 };
	trace_id_t trid;

	if (posix_trace_open(recorder->fd, &trid))
		return;
	if (!posix_trace_get_ledger_np(trid, &ledger)) {
		now.events = ledger.called;
		memcpy(now.lost, ledger.lost, sizeof(now.lost));
		add_to_metrics(recorder, metrics, &now);
	}
	posix_trace_close(trid);
}

/*
 * A watch refers to the triggers of a configuration. So the function makes the watch again when the
 * agent has loaded a new configuration.
 */
enum recorder_begun recorder_watch(struct recorder *recorder, const struct config *config,
				   struct metrics *metrics)
{
	const struct config_record *record = config_record_of(config, recorder->record->name);
	int err = 0;

	watch_end(recorder->watch);
	recorder->watch = NULL;
	if (record && watch_is_needed(config, record))
		err = watch_begin(&recorder->watch, recorder->pid, config, recorder->record,
				  &recorder->plan.choose, metrics);
	return err ? failed_begun(err) : RECORDER_BEGUN;
}

/* Appends a text with its NUL. Returns the end of the appended bytes. */
static char *put_text(char *p, const char *text)
{
	size_t len = strnlen(text, TEXT_BYTES - 1);

	memcpy(p, text, len);
	p[len] = '\0';
	return p + len + 1;
}

/*
 * Errors are ignored, because the log is useful even without this event. The agent itself is the
 * writer of the event, so the event has the process and thread of the agent.
 */
void recorder_note(const struct recorder *recorder, const char *what, const char *trigger,
		   const char *reason)
{
	char data[3 * TEXT_BYTES], *end;
	trace_event_id_t id;

	end = put_text(put_text(put_text(data, what), trigger), reason);
	if (posix_trace_trid_eventid_open(recorder->capture.trid, RECORDER_EVENT, &id))
		return;
	posix_trace_trid_describe_np(recorder->capture.trid, id, RECORDER_SCHEMA);
	posix_trace_trid_event_np(recorder->capture.trid, id, data, (size_t)(end - data));
}

/* The argument of copy_stream(). */
struct copy {
	const struct recorder *recorder;
	int64_t since_ns;
	int fd;
	int err;
};

/*
 * posix_trace_observe_np() calls this function for each stream of the process. The function copies
 * the stream immediately, because the description of the stream is valid only during this call.
 */
static void copy_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	struct copy *copy = arg;

	if (is_own_stream(copy->recorder, stream))
		copy->err = posix_trace_snapshot_since_np(stream, copy->fd, copy->since_ns, NULL);
}

/* Prints why the stream could not be copied into the file "name" in flight/. */
static void say_no_copy(const struct recorder *recorder, const struct store *store,
			const char *name, const char *trigger, int err)
{
	if (capture_is_of_log(err))
		say("%s/flight/%s: %s; no log for trigger %s of process %d", store->folder, name,
		    say_strerror(err), trigger, (int)recorder->pid);
	else
		say("process %d: no log for trigger %s: %s", (int)recorder->pid, trigger,
		    say_strerror(err));
}

/*
 * Copies the stream into the new file "name" in flight/. If the recorded process has ended, only
 * the agent still has the stream's memory, so the function visits all streams that the agent can
 * find. Returns the descriptor of the file, or -1 after it printed an error.
 */
static int copy_recorder(const struct recorder *recorder, const struct store *store,
			 const char *name, const char *trigger, int64_t last_ns, bool has_ended)
{
	struct copy copy = { .recorder = recorder, .err = ESRCH };
	int err;

	copy.since_ns = when_since(last_ns);
	copy.fd = store_create(store, name);
	if (copy.fd < 0)
		return -1;
	err = posix_trace_observe_np(has_ended ? POSIX_TRACE_EVERY_PROCESS_NP : recorder->pid,
				     copy_stream, &copy);
	if (!err)
		err = copy.err;
	if (!err)
		return copy.fd;
	say_no_copy(recorder, store, name, trigger, err);
	close(copy.fd);
	store_drop(store, name);
	return -1;
}

/* The argument of keep_stream(): the arguments of recorder_snapshot(). */
struct snapshot {
	struct recorder_log *list;
	size_t count;
	struct store *store;
	const struct config *config;
	const char *trigger, *reason;
	int64_t since_ns;
};

/*
 * Writes the log of one recorder. The copy is written in flight/ and is moved to logs/ when it is
 * complete. Its name ends with ".new", unlike the names of flight logs. If this agent is killed
 * meanwhile, the next agent recognizes the copy by this name and removes it.
 */
static void keep_copy(const struct snapshot *snapshot, struct recorder_log *log,
		      const struct posix_trace_stream_np *stream)
{
	const struct recorder *recorder = log->recorder;
	enum store_result result = STORE_FAILED;
	char name[STORE_NAME_BYTES + 8];
	int fd, err;

	log->is_tried = true;
	recorder_note(recorder, "snapshot", snapshot->trigger, snapshot->reason);
	snprintf(name, sizeof(name), "%s.new", recorder->name);
	fd = store_create(snapshot->store, name);
	if (fd < 0)
		return;
	err = posix_trace_snapshot_since_np(stream, fd, snapshot->since_ns, NULL);
	if (err)
		say_no_copy(recorder, snapshot->store, name, snapshot->trigger, err);
	else
		result = store_keep(snapshot->store, snapshot->config, name, &recorder->flight,
				    snapshot->trigger, &log->path);
	close(fd);
	if (result == STORE_LATER)
		say("process %d: the copy for trigger %s is removed without an account",
		    (int)recorder->pid, snapshot->trigger);
	if (result != STORE_KEPT)
		store_drop(snapshot->store, name);
	log->is_written = result == STORE_KEPT;
}

/* posix_trace_observe_np() calls this function for each stream. */
static void keep_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	const struct snapshot *snapshot = arg;

	for (size_t i = 0; i < snapshot->count; i++)
		if (!snapshot->list[i].is_tried &&
		    is_own_stream(snapshot->list[i].recorder, stream))
			keep_copy(snapshot, &snapshot->list[i], stream);
}

/*
 * To find the stream of one process, an observer searches the files of all processes. So one search
 * finds the streams of all recorders.
 */
void recorder_snapshot(struct recorder_log *list, size_t count, struct store *store,
		       const struct config *config, const char *trigger, const char *reason,
		       int64_t last_ns)
{
	struct snapshot snapshot = { list, count, store, config, trigger, reason,
				     when_since(last_ns) };
	int err;

	if (!count)
		return;
	err = posix_trace_observe_np(count == 1 ? list->recorder->pid
						: POSIX_TRACE_EVERY_PROCESS_NP,
				     keep_stream, &snapshot);
	for (size_t i = 0; i < count; i++)
		if (!list[i].is_tried)
			say_no_copy(list[i].recorder, store, list[i].recorder->name, trigger,
				    err ? err : ESRCH);
}

/*
 * The function detaches the library from the process last, when the log is complete. So the log is
 * safe even if the agent is killed during this step. If the process has ended, the function
 * detaches nothing.
 */
void recorder_end(struct recorder *recorder, struct store *store, const struct config *config,
		  struct metrics *metrics, const struct ended *ended, const char *trigger,
		  const char *reason, int64_t last_ns, char **path)
{
	enum store_result result = STORE_KEPT;
	bool is_kept = trigger != NULL, is_whole;
	char name[STORE_NAME_BYTES + 8];
	int fd = -1;

	*path = NULL;
	if (ended)
		capture_note_end(&recorder->capture, recorder->capture.inner_pid, ended);
	if (is_kept)
		recorder_note(recorder, "end", trigger, reason);
	watch_end(recorder->watch);
	snprintf(name, sizeof(name), "%s.new", recorder->name);
	if (is_kept && last_ns)
		fd = copy_recorder(recorder, store, name, trigger, last_ns, ended != NULL);
	/*
	 * Even if capture_finish() fails and the log is incomplete, the log is kept, because a part
	 * of it may be readable.
	 */
	is_whole = capture_finish(&recorder->capture) == TOOL_OK;
	add_last_counts(recorder, metrics);
	/*
	 * If no copy with only the last events was made, the function keeps the flight log, which
	 * has all events.
	 */
	if (is_kept)
		result = store_keep(store, config, fd < 0 ? recorder->name : name,
				    &recorder->flight, trigger, path);
	if (!is_whole && fd < 0 && *path)
		say("%s: this log is incomplete; 'posixtrace verify' says how much of it can be "
		    "read", *path);
	if (fd >= 0) {
		close(fd);
		if (result != STORE_KEPT)
			store_drop(store, name);
	}
	/*
	 * If the copy could not be moved, the flight log remains. An agent moves it later, like the
	 * flight logs of an agent that was killed.
	 */
	if (!is_kept || (fd >= 0 && result != STORE_FAILED && result != STORE_LATER))
		store_drop(store, recorder->name);
	inject_end(&recorder->inject);
	recorder_free(recorder);
}
