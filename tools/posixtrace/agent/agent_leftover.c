/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agent_leftover.c - handles the flight logs of an agent that was killed, and flight logs that the
 * store could not move.
 *
 * The guardian of a killed agent's log writes the content of the stream and completes the log.
 * Afterwards no process uses the log, and this agent moves it to logs/. If the guardian is missing,
 * the log remains incomplete. This agent cannot detect whether a guardian is still at work. So it
 * moves an incomplete log unchanged after a minute. posixtrace verify reports the state of such a
 * log.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/procfile.h"
#include "base/say.h"
#include "base/vec.h"
#include "base/when.h"

#define PATIENCE_NS INT64_C(60000000000) /* a guardian needs milliseconds */
#define CLOCK_STEP_MS 1000
#define HEADER_BYTES 4096 /* of a log, posixtrace-log(5) */

/* Opens the folder flight/ for reading. Returns NULL after it printed an error. */
static DIR *store_flights(const struct store *store)
{
	int fd = openat(store->flight, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (!folder) {
		say("%s/flight: %s", store->folder, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return folder;
}

/*
 * Returns whether the log is complete. Returns false also if the file cannot be read.
 *
 * posix_trace_open_np() waits until the guardian of a killed writer has ended. While the stream
 * continues, this wait takes ten seconds. So a log that has only its header is not opened: the log
 * of a flight recorder is empty until its stream ends.
 */
static bool is_complete(const struct store *store, const char *name)
{
	struct posix_trace_loginfo_np info = { .complete = 0 };
	int fd = openat(store->flight, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	trace_id_t trid;
	struct stat st;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && st.st_size > HEADER_BYTES &&
	    !posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid)) {
		posix_trace_get_loginfo_np(trid, &info);
		posix_trace_close(trid);
	}
	close(fd);
	return info.complete != 0;
}

/* Returns whether the file is the flight log of a recorder of this agent. */
static bool is_in_use(const struct agent *agent, const char *name)
{
	for (size_t i = 0; i < agent->recorders; i++)
		if (!strcmp(agent->recorder[i]->name, name))
			return true;
	return false;
}

/*
 * A visitor of posix_trace_observe_np(). It ends the guardian that keeps the stream of a leftover
 * running. The kernel reports the process that holds the lock of the stream, so stream->creator is
 * the number of a living process.
 */
static void end_guardian(void *arg, const struct posix_trace_stream_np *stream)
{
	const struct agent *agent = arg;
	char program[PROCESS_NAME_BYTES];
	struct store_flight flight;

	if (stream->creator <= 0 || stream->creator == getpid() ||
	    !store_flight_parse(stream->name, &flight) || is_in_use(agent, stream->name) ||
	    faccessat(agent->store.flight, stream->name, F_OK, AT_SYMLINK_NOFOLLOW))
		return;
	process_name(program, stream->creator);
	/* The kernel keeps only the first 15 bytes of a process's name. */
	if (!strncmp(program, "posixtrace-guardian", 15))
		kill(stream->creator, SIGTERM);
}

/*
 * Returns when the process began, in milliseconds since 1970. "start" is in clock ticks since the
 * boot. The result can be wrong by a few clock ticks.
 */
static int64_t process_began_ms(uint64_t start)
{
	return procfile_began_ns(start) / 1000000;
}

void agent_note_end(struct agent *agent, pid_t pid, uint64_t start, int64_t ms)
{
	for (size_t i = 0; i < agent->recorders; i++)
		if (agent->recorder[i]->pid == pid && agent->recorder[i]->start == start)
			return;
	if (!start || !vec_grow(&agent->end, agent->ends_noted, 1))
		return;
	agent->end[agent->ends_noted++] = (struct agent_end){ pid, start, ms };
}

void agent_forget_ends(struct agent *agent)
{
	for (size_t i = agent->ends_noted; i-- > 0;)
		if (find_start(agent->end[i].pid) != agent->end[i].start)
			agent->end[i] = agent->end[--agent->ends_noted];
}

/* Removes the notes about a process. Returns its latest end in ms since 1970, or -1 for none. */
static int64_t take_end(struct agent *agent, const struct found *found)
{
	int64_t ms = -1;

	for (size_t i = agent->ends_noted; i-- > 0;)
		if (agent->end[i].pid == found->pid && agent->end[i].start == found->start) {
			if (agent->end[i].ms > ms)
				ms = agent->end[i].ms;
			agent->end[i] = agent->end[--agent->ends_noted];
		}
	return ms;
}

/* Handles one file of flight/. Returns true if the file must be handled again later. */
static bool treat_leftover(struct agent *agent, const char *name)
{
	const char *suffix = strrchr(name, '.');
	struct store_flight flight;
	enum store_result result;
	struct stat st;
	bool is_there;
	char *path;

	/*
	 * A file with the suffix ".new" is an incomplete snapshot. It is not needed, because its
	 * events are in a flight log.
	 */
	if (suffix && !strcmp(suffix, ".new")) {
		store_drop(&agent->store, name);
		return false;
	}
	if (!store_flight_parse(name, &flight) || is_in_use(agent, name))
		return false;
	if (!is_complete(&agent->store, name) &&
	    until_now_ns() - agent->begin_ns < PATIENCE_NS)
		return true;
	is_there = !fstatat(agent->store.flight, name, &st, AT_SYMLINK_NOFOLLOW);
	/*
	 * If the process still lives, the function notes the end of its recording. A later search
	 * may record the process again, and agent_gap_ms() cannot read this log after the move.
	 */
	if (is_there &&
	    process_began_ms(find_start(flight.pid)) <= flight.ms + CLOCK_STEP_MS)
		agent_note_end(agent, flight.pid, find_start(flight.pid),
			       when_timespec(&st.st_mtim) / 1000000);
	/* The former agent was killed after it made the file and before the stream began. */
	if (is_there && !st.st_size) {
		store_drop(&agent->store, name);
		return false;
	}
	result = store_keep(&agent->store, agent->config, name, &flight, "restart", &path);
	if (result == STORE_KEPT && path)
		say("%s: moved from flight/, where a log remains if its agent is killed, or if it "
		    "cannot be kept for a moment", path);
	free(path);
	return result == STORE_LATER;
}

/*
 * The guardian completes the log right after it has stopped the stream. So the time of the file's
 * last change is the time of the stop. A log that began before the process began belongs to a
 * former process with the same number. The comparison tolerates a difference of CLOCK_STEP_MS,
 * because the clock may have been set between the two times.
 */
int64_t agent_gap_ms(struct agent *agent, const struct found *found)
{
	DIR *folder = agent->has_leftovers ? store_flights(&agent->store) : NULL;
	int64_t began = process_began_ms(found->start), ended = take_end(agent, found);
	struct store_flight flight;
	struct dirent *entry;
	struct stat st;

	while (folder && (entry = readdir(folder))) {
		int64_t ms;

		if (!store_flight_parse(entry->d_name, &flight) || flight.pid != found->pid ||
		    flight.ms + CLOCK_STEP_MS < began || is_in_use(agent, entry->d_name))
			continue;
		if (!is_complete(&agent->store, entry->d_name)) {
			ended = -1;
			break;
		}
		/* The log is complete, so the time of the file's last change is final. */
		if (fstatat(agent->store.flight, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		ms = when_timespec(&st.st_mtim) / 1000000;
		if (ms > ended)
			ended = ms;
	}
	if (folder)
		closedir(folder);
	if (ended < 0)
		return -1;
	return store_now_ms() > ended ? store_now_ms() - ended : 0;
}

/*
 * end_guardian() stops the old streams. No event is missed, because the new stream of each process
 * exists already: the agent searches for processes before it handles leftovers. One observation
 * finds all streams, because an observer searches the files of all processes.
 *
 * Each search calls the function while has_leftovers is true. If no leftover remains, the searches
 * need not read flight/, because only this agent makes files there, and each of its files belongs
 * to a recorder.
 */
void agent_leftovers(struct agent *agent)
{
	DIR *folder = store_flights(&agent->store);
	struct dirent *entry;

	if (!folder)
		return;
	agent->has_leftovers = false;
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.' && treat_leftover(agent, entry->d_name))
			agent->has_leftovers = true;
	closedir(folder);
	if (agent->has_leftovers && until_now_ns() - agent->begin_ns < PATIENCE_NS)
		posix_trace_observe_np(POSIX_TRACE_EVERY_PROCESS_NP, end_guardian, agent);
}
