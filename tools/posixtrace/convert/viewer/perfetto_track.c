/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfetto_track.c - the tracks of threads, processes and spans (track_descriptor.proto). The
 * number of a track (uuid) is computed from its facts, so no table has the numbers. The tables only
 * note which tracks are described.
 */
#include <errno.h>
#include <stdio.h>

#include "convert/plain.h"
#include "convert/viewer/perfetto.h"

enum { /* TrackDescriptor, ProcessDescriptor, ThreadDescriptor */
	TRACK_UUID = 1,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
};

/*
 * Mixes the bits by the finalizer of splitmix64. The lowest bit is set, because a result of 0 would
 * mean no track.
 */
static uint64_t mix_bits(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (x ^ x >> 31) | 1;
}

static uint64_t process_uuid(uint32_t pid)
{
	return mix_bits(pid + UINT64_C(0x9e3779b97f4a7c15));
}

/*
 * Returns the number of a thread's track. When a process executes another program, a thread keeps
 * its system number, but its handle changes. Therefore the handle of a thread with a system number
 * is not used (threads.h).
 */
static uint64_t thread_uuid(uint32_t pid, uint32_t tid, uint64_t thread)
{
	return mix_bits(mix_bits((uint64_t)pid << 32 | tid) + (tid ? 0 : thread));
}

uint64_t perfetto_thread_uuid(uint32_t pid, uint32_t tid)
{
	return thread_uuid(pid, tid, 0);
}

/*
 * Begins a packet with a TrackDescriptor. The packet has no timestamp, because the description
 * applies to the whole trace.
 */
static size_t begin_track(struct perfetto *perfetto, uint64_t uuid, size_t *packet)
{
	size_t track;

	*packet = perfetto_begin_untimed(perfetto);
	track = proto_begin(&perfetto->packet, PACKET_TRACK_DESCRIPTOR);
	proto_number(&perfetto->packet, TRACK_UUID, uuid);
	return track;
}

static int end_track(struct perfetto *perfetto, size_t track, size_t packet)
{
	proto_end(&perfetto->packet, track);
	return perfetto_end(perfetto, packet);
}

size_t perfetto_begin_track(struct perfetto *perfetto, uint64_t uuid, uint32_t pid, size_t *packet)
{
	size_t track = begin_track(perfetto, uuid, packet);

	if (pid)
		proto_number(&perfetto->packet, TRACK_PARENT, process_uuid(pid));
	return track;
}

int perfetto_end_track(struct perfetto *perfetto, size_t track, size_t packet)
{
	return end_track(perfetto, track, packet);
}

/*
 * Because of the constant, the numbers for tracks of counters differ from those for the process's
 * tracks of spans.
 */
uint64_t perfetto_counter_uuid(uint32_t pid, size_t type, unsigned field)
{
	return mix_bits(mix_bits(process_uuid(pid) ^ UINT64_C(0x636f756e746572)) +
			(uint64_t)type * POSIX_TRACE_FIELDS_MAX_NP + field);
}

int perfetto_plain_track(struct perfetto *perfetto, uint64_t uuid, const char *name)
{
	size_t packet, track = begin_track(perfetto, uuid, &packet);

	proto_text(&perfetto->packet, PERFETTO_TRACK_NAME, name);
	return end_track(perfetto, track, packet);
}

/*
 * Describes the track of a process. A track may be described first without its name, and later once
 * more with the name.
 */
static int process_track(struct perfetto *perfetto, uint32_t pid, const char *name)
{
	size_t packet, track = begin_track(perfetto, process_uuid(pid), &packet);
	size_t process = proto_begin(&perfetto->packet, TRACK_PROCESS);

	proto_number(&perfetto->packet, PROCESS_PID, pid);
	if (name)
		proto_text(&perfetto->packet, PROCESS_NAME, name);
	proto_end(&perfetto->packet, process);
	return end_track(perfetto, track, packet);
}

/*
 * Describes the track of a thread. A thread without a number, or of an unknown process, cannot have
 * a ThreadDescriptor, so its track gets a name. The track is a child of its process's track. If the
 * process is unknown, the track has no parent.
 */
static int thread_track(struct perfetto *perfetto, uint32_t pid, uint32_t tid, uint64_t handle,
			const char *name)
{
	size_t packet, thread;
	size_t track = begin_track(perfetto, thread_uuid(pid, tid, handle), &packet);
	char shown[32];

	if (pid)
		proto_number(&perfetto->packet, TRACK_PARENT, process_uuid(pid));
	if (pid && tid) {
		thread = proto_begin(&perfetto->packet, TRACK_THREAD);
		proto_number(&perfetto->packet, THREAD_PID, pid);
		proto_number(&perfetto->packet, THREAD_TID, tid);
		if (name)
			proto_text(&perfetto->packet, THREAD_NAME, name);
		proto_end(&perfetto->packet, thread);
	} else {
		snprintf(shown, sizeof(shown), "thread 0x%llx", (unsigned long long)handle);
		proto_text(&perfetto->packet, PERFETTO_TRACK_NAME, name ? name : shown);
	}
	return end_track(perfetto, track, packet);
}

int perfetto_name_track(struct perfetto *perfetto, const struct fmt_thread *thread)
{
	char *name = plain_copy(thread->name, thread->name_len < 4096 ? thread->name_len : 4096);
	int err;

	if (!name)
		return ENOMEM;
	if (thread->tid || thread->thread) {
		err = thread_track(perfetto, thread->pid, thread->tid, thread->thread, name);
	} else {
		err = process_track(perfetto, thread->pid, name);
		perfetto_sched_named(perfetto, thread->pid);
	}
	free(name);
	return err;
}

int perfetto_track(struct perfetto *perfetto, const struct fmt_event *event, uint64_t *track)
{
	struct thread *last = perfetto->last;
	int err = 0;

	/* Events of the stream itself belong to no thread. */
	if (!event->pid && !event->tid && !event->thread) {
		*track = PERFETTO_TRACK_STREAM;
		return 0;
	}
	if (!last || last->tid != event->tid || last->pid != event->pid ||
	    (!last->tid && last->handle != event->thread)) {
		last = perfetto->last = threads_of(&perfetto->threads, event->pid, event->tid,
						   event->thread);
		/*
		 * A thread beyond the limit of threads.h has no mark, so its track is described
		 * again.
		 */
		if (!last || !last->mark) {
			if (event->pid)
				err = process_track(perfetto, event->pid, NULL);
			if (!err)
				err = thread_track(perfetto, event->pid, event->tid, event->thread,
						   NULL);
		}
		if (last && !last->mark)
			last->mark = thread_uuid(event->pid, event->tid, event->thread);
	}
	*track = last ? last->mark : thread_uuid(event->pid, event->tid, event->thread);
	return err;
}

/*
 * Describes the track of a lane. Readers show tracks with the same name and parent as one group. If
 * the table of described lanes is full, a lane is described many times, which is redundant but not
 * wrong.
 */
static int lane_track(struct perfetto *perfetto, uint64_t uuid, uint64_t parent, const char *name)
{
	struct thread *lane = threads_of(&perfetto->lanes, 0, 0, uuid);
	size_t packet, track;

	if (lane && lane->mark)
		return 0;
	if (lane)
		lane->mark = 1;
	track = begin_track(perfetto, uuid, &packet);
	if (parent)
		proto_number(&perfetto->packet, TRACK_PARENT, parent);
	proto_text(&perfetto->packet, PERFETTO_TRACK_NAME, name);
	return end_track(perfetto, track, packet);
}

/*
 * Finds the track of a span with a key. Often all spans of a type are on one lane. In this case the
 * track is the last track of the type, and no search is needed.
 */
static int keyed_track(struct perfetto *perfetto, const struct fmt_event *event, uint64_t *track)
{
	struct perfetto_kind *kind = &perfetto->kind[event->type->index];
	const struct fmt_span *span = event->span;

	if (kind->track && kind->track_pid == event->pid && kind->track_lane == span->lane &&
	    kind->track_series == span->series) {
		*track = kind->track;
		return 0;
	}
	/*
	 * The number depends on the series, so spans of different names have different tracks. A
	 * collision of hashes is unlikely.
	 */
	*track = mix_bits(mix_bits(process_uuid(event->pid) + span->series + 1) + span->lane);
	kind->track = *track;
	kind->track_pid = event->pid;
	kind->track_lane = span->lane;
	kind->track_series = span->series;
	return lane_track(perfetto, *track, event->pid ? process_uuid(event->pid) : 0, span->name);
}

int perfetto_span_track(struct perfetto *perfetto, const struct fmt_event *event, uint64_t *track)
{
	const struct fmt_span *span = event->span;
	uint64_t thread;
	int err = perfetto_track(perfetto, event, &thread);

	*track = thread;
	if (err || (!span->keyed && !span->lane))
		return err;
	if (span->keyed)
		return keyed_track(perfetto, event, track);
	*track = mix_bits(thread + span->lane);
	return lane_track(perfetto, *track, thread, "crossing spans");
}
