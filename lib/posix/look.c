/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/look.c - posix_trace_observe_np(): the streams of a process, or of all processes.
 *
 * The observer finds streams through the files that processes hold open in /proc. It examines one
 * arena at a time, and calls `visit` after it has closed the arena's file, so that `visit` may call
 * any function. The observer changes nothing in the observed processes.
 */
#include <errno.h>
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

/*
 * One examination. It is allocated, because it has the names of all types of an arena. `opener`,
 * `inner`, `member`, `openers`, `name` and `text` belong to the arena that is being examined.
 */
struct looking {
	uint32_t pid; /* the process whose streams are wanted; 0: all */
	bool alone;   /* other processes that hold the same arena are not searched */
	const struct ptx_visitor *visitor;
	struct ptx_look *look;
	/*
	 * The processes that hold the arena that is being examined, and their ids in their own
	 * namespaces.
	 */
	const struct ptx_opener *opener;
	uint32_t *inner;
	pid_t *member;
	size_t openers;
	bool found_foreign; /* an arena of another version, whose streams cannot be reported */
	bool is_unreadable; /* an arena whose memory cannot be read; it may have wanted streams */
	const struct ptx_image *image; /* the bytes of the arena, instead of `openers` */
	const char *name[PTX_TYPE_MAX];
	char text[PTX_TYPE_MAX][PTX_TYPE_NAME_BYTES];
};

/* The public cause of each loss that writers count. */
static const int column[PTX_WRITER_LOSSES] = {
	[PTX_WRITER_OVERWRITTEN] = POSIX_TRACE_LOST_OVERWRITTEN_NP,
	[PTX_WRITER_STREAM_FULL] = POSIX_TRACE_LOST_STREAM_FULL_NP,
	[PTX_WRITER_NO_MEMORY] = POSIX_TRACE_LOST_NO_MEMORY_NP,
	[PTX_WRITER_NO_SLOT] = POSIX_TRACE_LOST_NO_SLOT_NP,
	[PTX_WRITER_NESTING] = POSIX_TRACE_LOST_NESTING_NP,
	[PTX_WRITER_SKIPPED] = POSIX_TRACE_LOST_BUDGET_NP,
};

/*
 * Returns the id of a process in its own namespace. Returns 0 if the process has ended, or if the
 * id cannot be read.
 */
static uint32_t inner_pid(uint32_t pid)
{
	struct ptx_proc_ids ids;

	return ptx_proc_ids(pid, &ids) ? 0 : ids.inner;
}

/*
 * Returns POSIX_TRACE_PROCESS_*_NP for the target of a stream that another process created. The
 * target is not among the openers. The id in the attachment may belong to another pid namespace, so
 * a process with this id here is the target only if it has the same identity. If there is no such
 * process, the target has certainly ended only if its namespace is the namespace of this process.
 */
static int state_of_target(const struct ptx_attachment *attachment,
			   const struct ptx_identity *identity)
{
	enum ptx_life life = ptx_life_of_one(attachment->target, identity);

	if (life == PTX_ALIVE)
		return POSIX_TRACE_PROCESS_ALIVE_NP;
	return life == PTX_DEAD && attachment->target_space != 0 &&
	       attachment->target_space == ptx_proc_space(PTX_PROC_SELF) ?
		       POSIX_TRACE_PROCESS_ENDED_NP :
		       POSIX_TRACE_PROCESS_UNKNOWN_NP;
}

/*
 * Returns POSIX_TRACE_PROCESS_*_NP for a process that traces itself and is not among the openers.
 * Such a process holds the lock of its stream until it ends. If it could not acquire the lock,
 * `unlocked` is set. After its end, its guardian may hold the lock.
 */
static int state_of_creator(const struct ptx_look_stream *from)
{
	uint32_t inner;

	if (from->creator == PTX_CREATOR_GONE)
		return from->attachment.unlocked ? POSIX_TRACE_PROCESS_UNKNOWN_NP :
						   POSIX_TRACE_PROCESS_ENDED_NP;
	inner = from->creator ? inner_pid(from->creator) : 0;
	if (!inner)
		return POSIX_TRACE_PROCESS_UNKNOWN_NP;
	return inner == from->attachment.target ? POSIX_TRACE_PROCESS_ALIVE_NP :
						  POSIX_TRACE_PROCESS_ENDED_NP;
}

/*
 * Finds the traced process among the openers and stores its id in this namespace. If none of them
 * is the traced process, stores the id that is in the attachment. For example, a process that does
 * not use the library holds no arena. The function then also stores whether the process has ended,
 * or may still begin to use the library. If the stream is in a file or a core dump, its process may
 * be one of another machine.
 */
static void find_target(const struct looking *looking, const struct ptx_look_stream *from,
			struct posix_trace_stream_np *stream)
{
	const struct ptx_attachment *attachment = &from->attachment;
	/* The identity of the target at the creation; 0: the process traces itself. */
	const struct ptx_identity identity = {
		.inode = attachment->target_inode,
		.start = attachment->target_start,
	};
	/*
	 * A process that traces itself is found by its id alone, because it holds its own arena.
	 */
	const bool traces_itself = identity.inode == 0 && identity.start == 0;

	for (size_t i = 0; i < looking->openers; i++)
		/*
		 * The id must agree. Ids are reused, so the process must also have the identity
		 * that the creator stored. The id of an opener that has ended is 0.
		 */
		if (looking->inner[i] && looking->inner[i] == attachment->target &&
		    (traces_itself ||
		     ptx_life_of_one(looking->opener[i].pid, &identity) != PTX_DEAD)) {
			stream->pid = (pid_t)looking->opener[i].pid;
			return;
		}
	/* The target is not among the openers: it has ended, or does not use the library yet. */
	stream->pid = (pid_t)attachment->target;
	if (looking->image)
		stream->ended = POSIX_TRACE_PROCESS_UNKNOWN_NP;
	else if (traces_itself)
		stream->ended = state_of_creator(from);
	else
		stream->ended = state_of_target(attachment, &identity);
	if (traces_itself && stream->ended == POSIX_TRACE_PROCESS_ALIVE_NP)
		stream->pid = (pid_t)from->creator;
	/* waiting: the arena was made for a process that has not started to use the library. */
	stream->waiting = stream->ended != POSIX_TRACE_PROCESS_ENDED_NP && !looking->image &&
			  atomic_load_explicit(&looking->look->control.owner,
					       memory_order_relaxed) == PTX_ARENA_WAITS;
}

/* Returns whether the process is a member that inherited the stream. */
static bool has_inherited(const struct ptx_control *control, uint32_t inner, unsigned bit)
{
	/*
	 * The table is shared memory: entries may change while it is read. At worst a member is
	 * missing.
	 */
	for (unsigned i = 0; i < PTX_MEMBERS; i++)
		if (atomic_load_explicit(&control->member[i].pid, memory_order_relaxed) == inner)
			return atomic_load_explicit(&control->member[i].bits,
						    memory_order_relaxed) >> bit & 1;
	return false;
}

/*
 * Stores the processes that inherited the stream. An id in the table may belong to another process
 * by now. So the function stores only processes that have the arena's file open.
 */
static void find_members(const struct looking *looking, unsigned bit,
			 struct posix_trace_stream_np *stream)
{
	for (size_t i = 0; i < looking->openers; i++) {
		pid_t pid = (pid_t)looking->opener[i].pid;

		/*
		 * The target itself is not a member. An opener that has ended since the list was
		 * made has the id 0, which is also the id in the unused entries of the table.
		 */
		if (pid != stream->pid && looking->inner[i] &&
		    has_inherited(&looking->look->control, looking->inner[i], bit))
			looking->member[stream->members++] = pid;
	}
	stream->member = looking->member;
}

/* Copies the attributes. The name was read from shared memory and may lack its NUL. */
static void copy_attributes(const struct ptx_look_stream *from, struct posix_trace_stream_np *to)
{
	const struct ptx_attachment *attachment = &from->attachment;

	/* The last byte is not copied, so that the NUL there remains. */
	memcpy(to->name, attachment->name, sizeof(to->name) - 1);
	to->creation_ns = attachment->creation_ns;
	to->inheritance = attachment->inherited ? POSIX_TRACE_INHERITED :
						  POSIX_TRACE_CLOSE_FOR_CHILD;
	/* The policies are information that the creator stored; nothing here depends on them. */
	to->stream_full_policy = attachment->stream_policy;
	to->log_full_policy = attachment->log_policy;
	to->stream_size = from->geometry.capacity;
	to->max_data_size = attachment->max_data_size;
	/* A creator that holds its lock is alive; its id comes from the lock. */
	to->creator = from->creator == PTX_CREATOR_GONE ? POSIX_TRACE_CREATOR_GONE_NP :
							  (pid_t)from->creator;
}

/*
 * Copies the state and the counts. Each value is correct by itself, but the values may be of
 * different moments.
 */
static void copy_status(const struct ptx_look_stream *from, struct posix_trace_stream_np *to)
{
	enum ptx_state kind = ptx_state_kind(from->state);
	/* STATUS-03: a LOOP stream is FULL once it has overwritten events. */
	bool full = kind == PTX_FULL || kind == PTX_HELD ||
		    (from->attachment.loop && from->looped);

	to->stream_status = kind == PTX_RUNNING ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
	to->stream_full_status = full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
	to->stream_overrun_status = from->overrun ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
	/* Chunks are the units in which the memory of the stream is used. */
	to->chunks = from->chunks;
	to->chunks_taken = from->chunks - from->free_chunks;
	to->recorded = from->recorded;
	/*
	 * Writers count these causes. Only the stream's reader knows the counts of the other
	 * causes.
	 */
	for (int loss = 0; loss < PTX_WRITER_LOSSES; loss++)
		to->lost[column[loss]] = from->lost[loss];
	ptx_eventset_empty(&to->filter);
	/* The region has the complement of the filter. */
	for (int i = 0; i < PTX_WORDS; i++)
		to->filter.__bits[i] = ~from->admit[i];
	/* Type 0 does not exist. */
	ptx_eventset_del(&to->filter, 0);
}

/*
 * Returns whether the caller has asked for this stream: its target or one of its members is
 * looking->pid.
 */
static bool is_wanted(const struct looking *looking, const struct posix_trace_stream_np *stream)
{
	/*
	 * A living process may have the id of a target that has ended, so the id of such a target
	 * is not compared.
	 */
	if (looking->pid == 0 || (!stream->ended && stream->pid == (pid_t)looking->pid))
		return true;
	for (size_t i = 0; i < stream->members; i++)
		if (stream->member[i] == (pid_t)looking->pid)
			return true;
	return false;
}

/* Memory is allocated only for a program of a later version, whose streams are longer. */
int ptx_visitor_begin(struct ptx_visitor *visitor,
		      void (*visit)(void *arg, const struct posix_trace_stream_np *stream),
		      void *arg, size_t size)
{
	const bool is_newer = size > sizeof(struct posix_trace_stream_np);

	if (!visit || size < PTX_FIRST_STREAM)
		return EINVAL;
	/* Members that are not set are 0. */
	*visitor = (struct ptx_visitor){ .visit = visit, .arg = arg, .size = size };
	if (is_newer)
		visitor->longer = malloc(size);
	return is_newer && !visitor->longer ? ENOMEM : 0;
}

/* The caller must not call visit_stream() after this call. */
void ptx_visitor_end(struct ptx_visitor *visitor)
{
	free(visitor->longer);
}

/*
 * Calls the program's function. Members that this version does not have are 0 in a longer stream.
 */
static void visit_stream(const struct ptx_visitor *visitor,
			 const struct posix_trace_stream_np *stream)
{
	if (visitor->longer)
		ptx_sized_store(visitor->longer, visitor->size, stream, sizeof(*stream));
	visitor->visit(visitor->arg, visitor->longer ? visitor->longer : stream);
}

/* Reports one stream to the caller. */
static void report_stream(const struct looking *looking, const struct ptx_look_stream *from)
{
	/* All members that the caller may read are set, or 0. */
	struct posix_trace_stream_np stream = { 0 };
	struct posix_trace_source_np source = { .stream = from,
						.opener = looking->opener,
						.openers = looking->openers,
						.image = looking->image };

	find_target(looking, from, &stream);
	find_members(looking, from->bit, &stream);
	if (!is_wanted(looking, &stream))
		return;
	copy_attributes(from, &stream);
	copy_status(from, &stream);
	/* The names are valid during `visit`. */
	stream.event_name = looking->name;
	stream.event_names = PTX_TYPE_MAX;
	stream.source = &source;
	visit_stream(looking->visitor, &stream);
}

/* Copies the names of event types. All streams of an arena have the same names. */
static void update_names(struct looking *looking)
{
	/* A type without a name is a null pointer. */
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		looking->name[type] = ptx_names_get(&looking->look->names, type,
						    looking->text[type]) ?
					      looking->text[type] : NULL;
}

/*
 * Opens the arena through any of its openers: some may have ended or closed the file. If none can
 * be used, the arena has no streams for this caller, which is no error. If this process lacks
 * descriptors or memory, the function returns that error, because the arena may have streams. After
 * EIO the arena may have streams, too: the function sets is_unreadable, and the caller continues
 * with the next arena.
 */
static int open_arena(struct looking *looking)
{
	char path[PTX_OPENER_PATH];
	int err;

	/* An opener may have ended, or closed the file, since the list was made. */
	for (size_t i = 0; i < looking->openers; i++) {
		ptx_openers_path(&looking->opener[i], path, sizeof(path));
		err = ptx_look_at(looking->look, path, &looking->opener[i]);
		if (!err || ptx_io_is_own(err))
			return err;
		looking->is_unreadable |= err == EIO;
		/*
		 * The arena counts as foreign only if the wanted process holds it: a controller
		 * holds arenas of other processes, too.
		 */
		if (looking->look->is_foreign && looking->opener[i].pid == looking->pid)
			looking->found_foreign = true;
	}
	return 0;
}

/* Reports the streams of the arena. */
static void report_arena(struct looking *looking)
{
	/* The ids of all openers are found first, because each stream needs them. */
	for (size_t i = 0; i < looking->openers; i++)
		looking->inner[i] = inner_pid(looking->opener[i].pid);
	update_names(looking);
	for (unsigned i = 0; i < looking->look->streams; i++)
		report_stream(looking, &looking->look->stream[i]);
}

/* Examines one arena. ENOMEM, EMFILE, ENFILE. */
static int look_at_arena(struct looking *looking)
{
	int err = open_arena(looking);

	/* An arena without streams is not an error. */
	if (err || looking->look->streams == 0)
		return err;
	/* A stream has at most as many members as the arena has openers. */
	looking->inner = malloc(looking->openers * sizeof(*looking->inner));
	looking->member = malloc(looking->openers * sizeof(*looking->member));
	if (looking->inner && looking->member)
		report_arena(looking);
	else
		err = ENOMEM;
	free(looking->inner);
	free(looking->member);
	return err;
}

/*
 * Examines all arenas that the wanted processes hold. Openers of one arena are neighbours in the
 * list.
 */
static int look_at_all(struct looking *looking)
{
	struct ptx_openers openers;
	/*
	 * If looking->alone is set, only the files of the calling process are searched, which needs
	 * no permission.
	 */
	int err = looking->alone ? ptx_openers_find_of(looking->pid, &openers)
				 : ptx_openers_find(&openers);

	if (err)
		return err;
	for (size_t i = 0; !err && i < openers.count; i += looking->openers) {
		/* The next group begins behind the openers of this arena. */
		looking->opener = &openers.opener[i];
		looking->openers = ptx_openers_same(&openers, i);
		err = look_at_arena(looking);
	}
	ptx_openers_free(&openers);
	if (!err && looking->is_unreadable)
		err = EIO;
	/*
	 * An arena of another version is an error, except in two cases. A process that asks for its
	 * own streams needs only the streams of this copy of the library. A list of all processes
	 * (pid 0) omits the streams that it cannot read.
	 */
	return !err && looking->found_foreign && !looking->alone ? EPROTONOSUPPORT : err;
}

/* Returns 0 if the caller may examine the process, else the error. */
static int may_look_at(pid_t pid)
{
	char path[PTX_OPENER_PATH];
	int err, folder;

	/* Negative numbers are no processes (CREATE-18). */
	if (pid < 0)
		return ESRCH;
	/* The folder of descriptors is readable only for processes that the caller may trace. */
	ptx_openers_files((uint32_t)pid, path, sizeof(path));
	err = ptx_io_open(path, O_RDONLY | O_DIRECTORY, &folder);
	if (!err)
		ptx_io_close(folder);
	/* The process has ended, or the options of the mount of /proc hide it. */
	if (err == ENOENT)
		return ptx_life_of((uint32_t)pid) == PTX_DEAD ? ESRCH : EPERM;
	return err == EACCES ? EPERM : err;
}

/*
 * Does the whole call. ESRCH: there is no such process. EPERM: the caller may not examine it.
 * ENOTSUP: /proc cannot be used. ENOMEM: there is no memory. EPROTONOSUPPORT: the process uses
 * another version of this library, so that its streams could not be reported. EIO: the memory of a
 * stream cannot be read.
 */
static int look_at_streams(pid_t pid, const struct ptx_visitor *visitor)
{
	struct looking *looking;
	bool alone = pid == POSIX_TRACE_THIS_PROCESS_NP;
	int err = 0;

	if (ptx_process_is_child())
		ptx_process_child();
	/* 0 means the calling process, as for posix_trace_create() (CREATE-03). */
	if (pid == 0 || alone)
		pid = (pid_t)ptx_proc_own();
	/* If /proc belongs to another pid namespace, its numbers are ids of other processes. */
	err = ptx_proc_is_ours();
	if (!err && pid != POSIX_TRACE_EVERY_PROCESS_NP)
		err = may_look_at(pid);
	/*
	 * The errors are those of posix_trace_create() for a process that the caller may not
	 * examine.
	 */
	if (err)
		return err == ENXIO ? ENOTSUP : err == EACCES ? EPERM : err;
	looking = calloc(1, sizeof(*looking));
	if (!looking)
		return ENOMEM;
	/* Both looking and looking->look are too large for the stack. */
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

/* The bytes come from an image and not from open files of processes, so there are no openers. */
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
			report_arena(looking);
		free(looking->look);
	}
	free(looking);
	return err;
}

/*
 * Calls `visit` for each stream, without a lock. The pointers are valid during the call of `visit`
 * only.
 */
PTX_EXPORT int posix_trace_observe_sized_np(
	pid_t pid, void (*visit)(void *arg, const struct posix_trace_stream_np *stream), void *arg,
	size_t size)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_visitor visitor;
	int err = ptx_visitor_begin(&visitor, visit, arg, size);

	if (err)
		return ptx_call_end(call, err);
	err = look_at_streams(pid, &visitor);
	ptx_visitor_end(&visitor);
	return ptx_call_end(call, err);
}
