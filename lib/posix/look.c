/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/look.c - all streams of a process, or of all processes, for who takes no part in them.
 *
 * Streams are found by the files that processes hold: one arena is looked at a time, and its
 * streams are told when its file is closed again, so that visit may do what it likes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trace_np.h>

#include "base/io.h"
#include "base/life.h"
#include "base/proc.h"
#include "meet/process.h"
#include "posix/call.h"
#include "posix/first.h"
#include "posix/source.h"
#include "record/eventset.h"

struct looking {
	uint32_t pid; /* whose streams are wanted; 0: everybody's */
	bool alone;   /* nobody else who takes part in them is */
	const struct ptx_visitor *visitor;
	struct ptx_look *look;
	/*
	 * Who holds the arena that is being looked at, and the ids that those know themselves by.
	 */
	const struct ptx_opener *opener;
	uint32_t *inner;
	pid_t *member;
	size_t openers;
	const struct ptx_image *image; /* instead of holders */
	const char *name[PTX_TYPE_MAX];
	char text[PTX_TYPE_MAX][PTX_TYPE_NAME_BYTES];
};

static const int column[PTX_WRITER_LOSSES] = {
	[PTX_WRITER_OVERWRITTEN] = POSIX_TRACE_LOST_OVERWRITTEN_NP,
	[PTX_WRITER_STREAM_FULL] = POSIX_TRACE_LOST_STREAM_FULL_NP,
	[PTX_WRITER_NO_MEMORY] = POSIX_TRACE_LOST_NO_MEMORY_NP,
	[PTX_WRITER_NO_SLOT] = POSIX_TRACE_LOST_NO_SLOT_NP,
	[PTX_WRITER_NESTING] = POSIX_TRACE_LOST_NESTING_NP,
};

/* The traced process's id here. One that does not know the library holds nothing. */
static void find_target(const struct looking *looking, const struct ptx_attachment *attachment,
			struct posix_trace_stream_np *stream)
{
	const struct ptx_identity identity = {
		.inode = attachment->target_inode,
		.start = attachment->target_start,
	};
	const bool traces_itself = identity.inode == 0 && identity.start == 0;

	for (size_t i = 0; i < looking->openers; i++)
		if (looking->inner[i] == attachment->target &&
		    (traces_itself ||
		     ptx_life_of_one(looking->opener[i].pid, &identity) != PTX_DEAD)) {
			stream->pid = (pid_t)looking->opener[i].pid;
			return;
		}
	stream->pid = (pid_t)attachment->target;
	stream->ended = traces_itself ||
			ptx_life_of_one(attachment->target, &identity) == PTX_DEAD;
	stream->waiting = !stream->ended &&
			  atomic_load_explicit(&looking->look->control.owner,
					       memory_order_relaxed) == PTX_ARENA_WAITS;
}

static bool inherited(const struct ptx_control *control, uint32_t inner, unsigned bit)
{
	for (unsigned i = 0; i < PTX_MEMBERS; i++)
		if (atomic_load_explicit(&control->member[i].pid, memory_order_relaxed) == inner)
			return atomic_load_explicit(&control->member[i].bits,
						    memory_order_relaxed) >> bit & 1;
	return false;
}

/* An id in the table may be another process's by now; whoever has the file open is meant. */
static void find_members(const struct looking *looking, unsigned bit,
			 struct posix_trace_stream_np *stream)
{
	for (size_t i = 0; i < looking->openers; i++) {
		pid_t pid = (pid_t)looking->opener[i].pid;

		if (pid != stream->pid &&
		    inherited(&looking->look->control, looking->inner[i], bit))
			looking->member[stream->members++] = pid;
	}
	stream->member = looking->member;
}

static void tell_attributes(const struct ptx_look_stream *from, struct posix_trace_stream_np *to)
{
	const struct ptx_attachment *attachment = &from->attachment;

	memcpy(to->name, attachment->name, sizeof(to->name) - 1);
	to->creation_ns = attachment->creation_ns;
	to->inheritance = attachment->inherited ? POSIX_TRACE_INHERITED :
						  POSIX_TRACE_CLOSE_FOR_CHILD;
	to->stream_full_policy = attachment->stream_policy;
	to->log_full_policy = attachment->log_policy;
	to->stream_size = from->geometry.capacity;
	to->max_data_size = attachment->max_data_size;
	to->creator = from->creator == PTX_CREATOR_GONE ? POSIX_TRACE_CREATOR_GONE_NP :
							  (pid_t)from->creator;
}

static void tell_status(const struct ptx_look_stream *from, struct posix_trace_stream_np *to)
{
	enum ptx_state kind = ptx_state_kind(from->state);
	bool full = kind == PTX_FULL || kind == PTX_HELD ||
		    (from->attachment.loop && from->looped);

	to->stream_status = kind == PTX_RUNNING ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
	to->stream_full_status = full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
	to->stream_overrun_status = from->overrun ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
	to->chunks = from->chunks;
	to->chunks_taken = from->chunks - from->free_chunks;
	to->recorded = from->recorded;
	for (int loss = 0; loss < PTX_WRITER_LOSSES; loss++)
		to->lost[column[loss]] = from->lost[loss];
	ptx_eventset_empty(&to->filter);
	for (int i = 0; i < PTX_WORDS; i++)
		to->filter.__bits[i] = ~from->admit[i];
	ptx_eventset_del(&to->filter, 0);
}

static bool is_wanted(const struct looking *looking, const struct posix_trace_stream_np *stream)
{
	if (looking->pid == 0 || (!stream->ended && stream->pid == (pid_t)looking->pid))
		return true;
	for (size_t i = 0; i < stream->members; i++)
		if (stream->member[i] == (pid_t)looking->pid)
			return true;
	return false;
}

int ptx_visitor_begin(struct ptx_visitor *visitor,
		      void (*visit)(void *arg, const struct posix_trace_stream_np *stream),
		      void *arg, size_t size)
{
	const bool is_newer = size > sizeof(struct posix_trace_stream_np);

	if (!visit || size < PTX_FIRST_STREAM)
		return EINVAL;
	*visitor = (struct ptx_visitor){ .visit = visit, .arg = arg, .size = size };
	if (is_newer)
		visitor->longer = malloc(size);
	return is_newer && !visitor->longer ? ENOMEM : 0;
}

void ptx_visitor_end(struct ptx_visitor *visitor)
{
	free(visitor->longer);
}

static void hand_over(const struct ptx_visitor *visitor,
		      const struct posix_trace_stream_np *stream)
{
	if (visitor->longer)
		ptx_sized_store(visitor->longer, visitor->size, stream, sizeof(*stream));
	visitor->visit(visitor->arg, visitor->longer ? visitor->longer : stream);
}

static void tell_stream(const struct looking *looking, const struct ptx_look_stream *from)
{
	struct posix_trace_stream_np stream = { 0 };
	struct posix_trace_source_np source = { .stream = from,
						.opener = looking->opener,
						.openers = looking->openers,
						.image = looking->image };

	find_target(looking, &from->attachment, &stream);
	find_members(looking, from->bit, &stream);
	if (!is_wanted(looking, &stream))
		return;
	tell_attributes(from, &stream);
	tell_status(from, &stream);
	stream.event_name = looking->name;
	stream.event_names = PTX_TYPE_MAX;
	stream.source = &source;
	hand_over(looking->visitor, &stream);
}

static void know_names(struct looking *looking)
{
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		looking->name[type] = ptx_names_get(&looking->look->names, type,
						    looking->text[type]) ?
					      looking->text[type] : NULL;
}

/* Any of the holders leads to it: some may have ended since. */
static bool open_arena(const struct looking *looking)
{
	char path[PTX_OPENER_PATH];

	for (size_t i = 0; i < looking->openers; i++) {
		ptx_openers_path(&looking->opener[i], path, sizeof(path));
		if (ptx_look_at(looking->look, path))
			return true;
	}
	return false;
}

/*
 * The id by which a process knows itself; 0, which is no id: it has ended, or that cannot be read.
 */
static uint32_t inner_pid(uint32_t pid)
{
	struct ptx_proc_ids ids;

	return ptx_proc_ids(pid, &ids) ? 0 : ids.inner;
}

static void tell_arena(struct looking *looking)
{
	for (size_t i = 0; i < looking->openers; i++)
		looking->inner[i] = inner_pid(looking->opener[i].pid);
	know_names(looking);
	for (unsigned i = 0; i < looking->look->streams; i++)
		tell_stream(looking, &looking->look->stream[i]);
}

static int look_at_arena(struct looking *looking)
{
	int err = 0;

	if (!open_arena(looking) || looking->look->streams == 0)
		return 0;
	looking->inner = malloc(looking->openers * sizeof(*looking->inner));
	looking->member = malloc(looking->openers * sizeof(*looking->member));
	if (looking->inner && looking->member)
		tell_arena(looking);
	else
		err = ENOMEM;
	free(looking->inner);
	free(looking->member);
	return err;
}

static int look_at_all(struct looking *looking)
{
	struct ptx_openers openers;
	int err = looking->alone ? ptx_openers_find_of(looking->pid, &openers)
				 : ptx_openers_find(&openers);

	if (err)
		return err;
	for (size_t i = 0; !err && i < openers.count; i += looking->openers) {
		looking->opener = &openers.opener[i];
		looking->openers = ptx_openers_same(&openers, i);
		err = look_at_arena(looking);
	}
	ptx_openers_free(&openers);
	return err;
}

static int may_look_at(pid_t pid)
{
	char path[PTX_OPENER_PATH];
	int err, folder;

	if (pid < 0)
		return ESRCH;
	ptx_openers_files((uint32_t)pid, path, sizeof(path));
	err = ptx_io_open(path, O_RDONLY | O_DIRECTORY, &folder);
	if (!err)
		ptx_io_close(folder);
	if (err == ENOENT) /* mount options can keep it from being seen */
		return ptx_life_of((uint32_t)pid) == PTX_DEAD ? ESRCH : EPERM;
	return err == EACCES ? EPERM : err;
}

static int look(pid_t pid, const struct ptx_visitor *visitor)
{
	struct looking *looking;
	bool alone = pid == POSIX_TRACE_THIS_PROCESS_NP;
	int err = 0;

	if (ptx_process_is_child())
		ptx_process_child();
	if (pid == 0 || alone)
		pid = getpid();
	/* The numbers in /proc would be other processes' ids. */
	err = ptx_proc_is_ours();
	if (!err && pid != POSIX_TRACE_EVERY_PROCESS_NP)
		err = may_look_at(pid);
	if (err)
		return err == ENXIO ? ENOTSUP : err == EACCES ? EPERM : err;
	looking = calloc(1, sizeof(*looking));
	if (!looking)
		return ENOMEM;
	looking->look = ptx_look_new();
	if (looking->look) {
		looking->pid = pid == POSIX_TRACE_EVERY_PROCESS_NP ? 0 : (uint32_t)pid;
		looking->alone = alone;
		looking->visitor = visitor;
		err = look_at_all(looking);
		err = err == EACCES ? EPERM : err;
		free(looking->look);
	} else {
		err = ENOMEM;
	}
	free(looking);
	return err;
}

int ptx_posix_look_at_image(const struct ptx_image *image, const struct ptx_visitor *visitor)
{
	struct looking *looking = calloc(1, sizeof(*looking));
	int err = looking ? 0 : ENOMEM;

	if (!err)
		looking->look = ptx_look_new();
	if (!err && !looking->look)
		err = ENOMEM;
	if (!err) {
		looking->image = image;
		looking->visitor = visitor;
		if (!ptx_look_at_image(looking->look, image))
			err = EINVAL;
		else
			tell_arena(looking);
		free(looking->look);
	}
	free(looking);
	return err;
}

PTX_EXPORT int posix_trace_look_sized_np(pid_t pid,
					 void (*visit)(void *arg,
						       const struct posix_trace_stream_np *stream),
					 void *arg, size_t size)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_visitor visitor;
	int err = ptx_visitor_begin(&visitor, visit, arg, size);

	if (err)
		return ptx_call_end(call, err);
	err = look(pid, &visitor);
	ptx_visitor_end(&visitor);
	return ptx_call_end(call, err);
}
