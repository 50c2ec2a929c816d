/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules/mapped.c - the processes of a stream, and the notes of their mappings.
 *
 * The mappings come from three sources: looks at this process, looks at other processes, and
 * reports in the arena. All become notes for the log. Each note has the time from which on it is
 * known to be true. There are two locks. A thread holds the mutex `looking` during a look, which
 * can take long. It holds the mutex `lock`, which protects the notes, only for moments:
 * ptx_mapped_store() acquires `lock` while the stream's lock is held.
 */
#include "modules/mapped.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "modules/mapped_set.h"

#define LOOK_INTERVAL_NS 250000000 /* between two looks at other processes */
#define PROCESSES_MAX    4096u /* further processes are not known: a hostile arena may name many */

/* The state that is known of one process. */

struct process {
	uint32_t pid;
	uint32_t number;     /* in /proc; 0: it is not known */
	uint64_t parent;     /* this and since_ns: from the table of members, or from a report */
	int64_t since_ns;
	int64_t reported_ns; /* time of its last report; 0: none */
	bool is_member;      /* a member of the stream, or its target */
	bool has_set;
	bool exceeds_max; /* it has more mappings than are kept */
	struct ptx_mapped_set set;
};

struct ptx_mapped {
	const struct ptx_arena *arena;
	unsigned bit;
	uint32_t target;     /* 0: a process in a namespace that is not visible here */
	bool same_ids;
	pthread_mutex_t looking;
	int64_t looked_ns;   /* last look at other processes */
	/* from this time on, reports are missing in the arena; 0: none is missing */
	int64_t ended_ns;
	unsigned reports_read; /* all reports before this number have been read */
	uint64_t is_read[PTX_MAPS_NOTES / 64];
	struct process *process;
	size_t processes;
	char executable[PTX_MAPPING_PATH_BYTES];

	pthread_mutex_t lock; /* protects the members below */
	struct ptx_mappings noted;
	bool is_lost;         /* there was no memory for a note; its time is lost_ns */
	int64_t lost_ns;
};

/*
 * Returns true if the id of a process of the stream means this process. In another pid namespace,
 * an equal id means another process.
 */
static bool is_self(const struct ptx_mapped *mapped, uint32_t pid)
{
	return mapped->same_ids && pid == ptx_proc_own();
}

/*
 * Adds a note. After a note was lost for lack of memory, no further note is added. Otherwise the
 * log could show an old file for a range whose new file is unknown.
 */
static void mapped_note(void *to, const struct ptx_mapping *mapping)
{
	struct ptx_mapped *mapped = to;

	/* The lock is held only while one note is copied. */
	pthread_mutex_lock(&mapped->lock);
	if (!mapped->is_lost && ptx_mappings_add(&mapped->noted, mapping)) {
		mapped->is_lost = true;
		/* lost_ns is the time in the note and not the time of the failure. */
		mapped->lost_ns = mapping->from_ns;
	}
	pthread_mutex_unlock(&mapped->lock);
}

/* Notes that all mappings of a process end at that time. */
static void note_all_gone(struct ptx_mapped *mapped, uint32_t pid, int64_t when_ns)
{
	struct ptx_mapping gone = { .kind = PTX_MAPPING_GONE, .pid = pid, .end = UINT64_MAX,
				    .from_ns = when_ns };

	mapped_note(mapped, &gone);
}

/*
 * Looks at a process once, and makes the notes that follow from the look. This process looks at
 * itself through /proc if its dynamic linker may hang. A process of another pid namespace is looked
 * at only if its number in /proc is known, because its id means another process here.
 */
static void look_at(struct ptx_mapped *mapped, struct process *process)
{
	const struct ptx_mapped_set *old = process->has_set ? &process->set : NULL;
	struct ptx_mapped_set set = { .count = 0 };
	enum ptx_mapped_found found = PTX_MAPPED_UNREADABLE;
	const struct ptx_mapped_notes notes = { mapped_note, mapped };
	/*
	 * The time is read before the look. If the result is SAME, the old set was valid up to this
	 * time.
	 */
	int64_t now = ptx_clock_realtime();

	/*
	 * The log has the note that the mappings of this process have ended, so no further look is
	 * made.
	 */
	if (process->exceeds_max)
		return;
	if (is_self(mapped, process->pid) && !ptx_mapped_linker_may_hang())
		/* This look is exact, because the linker counts loads and unloads. */
		found = ptx_mapped_self(old, mapped->executable, &set);
	else if (process->number)
		found = ptx_mapped_other(old, mapped->arena, process->number, process->pid, &set);
	switch (found) {
	/* The old set stays, and the next look compares with it. */
	case PTX_MAPPED_UNREADABLE:
		break;
	/* The old set is valid up to now. */
	case PTX_MAPPED_SAME:
		process->set.before_ns = now;
		break;
	case PTX_MAPPED_NEW:
		/*
		 * A child, or a process that has reported, may have changed its mappings since its
		 * start. So the argument is 0: the notes then have the time of this look.
		 */
		if (old)
			ptx_mapped_compare(&notes, old, &set);
		else
			ptx_mapped_first(
				&notes, &set,
				process->parent || process->reported_ns ? 0 : process->since_ns);
		/* The new set replaces the old set; the notes have copies of their paths. */
		ptx_mapped_set_fini(&process->set);
		process->set = set;
		/* The next look compares with this set. */
		process->has_set = true;
		break;
	case PTX_MAPPED_TOO_MANY:
		/*
		 * From now on nothing is known of the process, so all its mappings end in the log.
		 */
		note_all_gone(mapped, process->pid, old ? old->before_ns : ptx_clock_realtime());
		/* The flag remains until the entry describes another program or another process. */
		process->exceeds_max = true;
		break;
	}
}

/*
 * Returns the entry of a process, and makes one if necessary. Returns NULL if the limit is reached,
 * or if there is no memory.
 */
static struct process *find_or_add_process(struct ptx_mapped *mapped, uint32_t pid)
{
	struct process *more;

	/* The search is linear, and is made once for each member and look. */
	for (size_t i = 0; i < mapped->processes; i++)
		if (mapped->process[i].pid == pid)
			return &mapped->process[i];
	/* Processes beyond the limit have no mappings in the log. */
	if (mapped->processes == PROCESSES_MAX)
		return NULL;
	more = realloc(mapped->process, (mapped->processes + 1) * sizeof *more);
	if (!more)
		return NULL;
	mapped->process = more;
	more += mapped->processes++;
	memset(more, 0, sizeof *more);
	/* All other members are 0: the process was never looked at and has made no report. */
	more->pid = pid;
	more->number = mapped->same_ids ? pid : 0;
	return more;
}

/*
 * Updates a process from its place in the table of members. A child has the mappings of its parent.
 * When a process executes another program, since_ns changes, and all its earlier mappings are gone.
 */
static void update_member(struct ptx_mapped *mapped, const struct ptx_member *member)
{
	uint64_t pid = atomic_load_explicit(&member->pid, memory_order_acquire);
	uint64_t bits = atomic_load_explicit(&member->bits, memory_order_acquire);
	uint64_t parent = atomic_load_explicit(&member->parent, memory_order_acquire);
	int64_t since_ns = atomic_load_explicit(&member->since_ns, memory_order_acquire);
	struct ptx_mapping child = { .kind = PTX_MAPPING_CHILD, .from_ns = since_ns };
	struct process *process;

	/* The place may have been given to another process while it was read. */
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&member->pid, memory_order_relaxed) != pid)
		return;
	/* Any process of the arena can write to the table: impossible values are ignored. */
	if (pid == 0 || pid > INT32_MAX || parent > INT32_MAX || since_ns <= 0 ||
	    !(bits >> mapped->bit & 1) || is_self(mapped, (uint32_t)pid))
		return;
	process = find_or_add_process(mapped, (uint32_t)pid);
	if (process)
		process->is_member = true;
	if (!process || (process->since_ns == since_ns && process->parent == parent))
		return;
	/*
	 * If since_ns was not 0, the process ran another program before, or its id was used again.
	 */
	if (process->since_ns)
		note_all_gone(mapped, (uint32_t)pid, since_ns);
	ptx_mapped_set_fini(&process->set);
	process->has_set = process->exceeds_max = false;
	process->parent = parent;
	process->since_ns = since_ns;
	/* The former reports of this process are about another program. */
	process->reported_ns = 0;
	/* Both ids were compared with INT32_MAX above. */
	child.pid = (uint32_t)pid;
	child.parent = (uint32_t)parent;
	/*
	 * If `parent` is 0, the process has executed a program, and has none of its former
	 * mappings.
	 */
	if (parent)
		mapped_note(mapped, &child);
}

/* After the target has executed another program, its earlier mappings are gone. */
static void update_target(struct ptx_mapped *mapped)
{
	const struct ptx_attachment *attachment = &mapped->arena->control->attachment[mapped->bit];
	int64_t since_ns = atomic_load_explicit(&attachment->executed_ns, memory_order_acquire);
	struct process *target = &mapped->process[0];

	/* The time comes from shared memory, so an impossible time is ignored. */
	if (since_ns <= 0 || since_ns == target->since_ns || is_self(mapped, target->pid))
		return;
	/* execve() has removed every mapping at that time. */
	note_all_gone(mapped, target->pid, since_ns);
	ptx_mapped_set_fini(&target->set);
	target->has_set = target->exceeds_max = false;
	/* The next call compares this time, to notice a further execve(). */
	target->since_ns = since_ns;
	target->reported_ns = 0;
}

/*
 * Handles a report of a process. The log gets the report unchanged. The report also counts as a
 * look at the process, made at the time of the report. The first report of a new program states
 * that all former mappings are gone. The first report of a child has the kind CHILD.
 */
static void apply_report(struct ptx_mapped *mapped, const struct ptx_mapping *report)
{
	struct process *process = find_or_add_process(mapped, report->pid);

	/* The log gets each report as it is, whatever the sets below have. */
	mapped_note(mapped, report);
	/* The report is in the log, even if there is no entry for the process. */
	if (!process)
		return;
	/* If several threads report, the reports may be in another order than their times. */
	if (report->from_ns > process->reported_ns)
		process->reported_ns = report->from_ns;
	/* This is the first report of a child or of a new program. */
	if (report->kind == PTX_MAPPING_CHILD ||
	    (report->start == 0 && report->end == UINT64_MAX)) {
		ptx_mapped_set_fini(&process->set);
		process->has_set = process->exceeds_max = false;
		process->parent = report->parent;
		process->since_ns = report->from_ns;
	} else if (!ptx_mapped_set_report(&process->set, report)) {
		process->has_set = true;
	}
}

/*
 * Returns true if reports of the process pid belong to the stream. The calling process needs no
 * reports, because it looks at itself.
 */
static bool is_of_stream(const struct ptx_mapped *mapped, uint32_t pid)
{
	const struct ptx_attachment *attachment = &mapped->arena->control->attachment[mapped->bit];

	if (is_self(mapped, pid))
		return false;
	/* Other processes can be in the stream only if it is inherited. */
	return pid == mapped->target ||
	       (pid <= INT32_MAX &&
		atomic_load_explicit(&attachment->inherited, memory_order_relaxed));
}

/*
 * Reports are missing in the arena since ended_ns, and one of them may be that a file is gone. So
 * the reported mappings are valid up to that time only.
 */
static void end_reported_mappings(struct ptx_mapped *mapped, int64_t ended_ns)
{
	/* The time is stored, so that the steps below are done only once. */
	mapped->ended_ns = ended_ns;
	for (size_t i = 0; i < mapped->processes; i++) {
		struct process *process = &mapped->process[i];

		/*
		 * If a process has made no report, its mappings are known by looks and are still
		 * valid.
		 */
		if (!process->reported_ns)
			continue;
		note_all_gone(mapped, process->pid,
			      ended_ns > process->reported_ns ? ended_ns
							      : process->reported_ns + 1);
		ptx_mapped_set_fini(&process->set);
		process->has_set = false;
	}
}

/*
 * Reads the new reports. A report may become ready after reports with higher numbers. If its writer
 * was killed, it never becomes ready. So a set of bits shows which reports were read.
 */
static void read_reports(struct ptx_mapped *mapped)
{
	const struct ptx_maps *maps = mapped->arena->lists ? &mapped->arena->lists->maps : NULL;
	unsigned count = maps ? ptx_maps_count(maps) : 0;
	char path[PTX_MAPPING_PATH_BYTES];
	struct ptx_mapping report;

	for (unsigned i = mapped->reports_read; i < count; i++) {
		uint64_t *done = &mapped->is_read[i / 64], bit = UINT64_C(1) << i % 64;

		/* ptx_maps_get() checks the values: other processes wrote them. */
		if (!(*done & bit) && ptx_maps_get(maps, i, &report, path)) {
			/* The report counts as read, whether it belongs to the stream or not. */
			*done |= bit;
			if (is_of_stream(mapped, report.pid))
				apply_report(mapped, &report);
		}
		/* Reports before this number need not be looked at again. */
		if (*done & bit && i == mapped->reports_read)
			mapped->reports_read++;
	}
	if (maps && ptx_maps_ended(maps) != mapped->ended_ns)
		end_reported_mappings(mapped, ptx_maps_ended(maps));
}

/*
 * Reads the table of members, then the reports of the members, and then looks at the processes:
 * each source is more recent than the source before.
 */
static void look_at_others(struct ptx_mapped *mapped, bool may_skip_others)
{
	const struct ptx_control *control = mapped->arena->control;
	int64_t now = ptx_clock_realtime();

	/* If the clock was set back, the look is made immediately. */
	if (may_skip_others && now >= mapped->looked_ns &&
	    now - mapped->looked_ns < LOOK_INTERVAL_NS)
		return;
	/* The time is stored even if no process can be looked at. */
	mapped->looked_ns = now;
	/* Shared memory is read before the looks are made, so that the looks show newer states. */
	update_target(mapped);
	for (unsigned i = 0; i < PTX_MEMBERS; i++)
		update_member(mapped, &control->member[i]);
	/*
	 * The reports of the members are read before the looks at the members, which may show later
	 * states.
	 */
	read_reports(mapped);
	for (size_t i = 0; i < mapped->processes; i++)
		if (mapped->process[i].is_member && !is_self(mapped, mapped->process[i].pid))
			look_at(mapped, &mapped->process[i]);
}

/*
 * Looks at this process, which is the target or the controller. A look at the controller is needed,
 * because the stream has some of its events, too. With other pid namespaces, the log has no
 * mappings of this process, because its id may be that of a process of the stream.
 */
static void look_at_self(struct ptx_mapped *mapped)
{
	for (size_t i = 0; i < mapped->processes; i++)
		if (is_self(mapped, mapped->process[i].pid))
			look_at(mapped, &mapped->process[i]);
}

/* Uses trylock, because a second thread that flushes must not wait for a look. */
void ptx_mapped_look(struct ptx_mapped *mapped, bool may_skip_others)
{
	int saved = errno;

	if (!mapped || pthread_mutex_trylock(&mapped->looking) != 0)
		return;
	/* The look at this process is cheap when nothing was loaded, so it is never postponed. */
	look_at_self(mapped);
	/* Each look at another process opens a file of /proc, so a caller may skip them. */
	look_at_others(mapped, may_skip_others);
	pthread_mutex_unlock(&mapped->looking);
	errno = saved;
}

/*
 * If a note was lost, the mappings are not known from its time on. So the log gets a last note that
 * ends all mappings at this time.
 */
void ptx_mapped_store(struct ptx_mapped *mapped, struct ptx_log *log)
{
	struct ptx_mapping end = { .kind = PTX_MAPPING_GONE, .end = UINT64_MAX };

	if (!mapped)
		return;
	pthread_mutex_lock(&mapped->lock);
	for (size_t i = 0; i < mapped->noted.count; i++)
		/* The log keeps a copy. If it has no room, it ends the list at the note's time. */
		ptx_log_mapping(log, &mapped->noted.mapping[i]);
	/*
	 * A note for all addresses of process 0 ends all mappings of all processes (FORMAT 3.12).
	 */
	if (mapped->is_lost) {
		end.from_ns = mapped->lost_ns;
		ptx_log_mapping(log, &end);
	}
	/* The log has the notes now, so the list is emptied. */
	ptx_mappings_fini(&mapped->noted);
	pthread_mutex_unlock(&mapped->lock);
}

/* The target is the first process of the list; update_target() relies on that. */
struct ptx_mapped *ptx_mapped_create(const struct ptx_arena *arena, unsigned bit, uint32_t pid,
				     uint32_t number, bool same_ids)
{
	struct ptx_mapped *mapped = calloc(1, sizeof *mapped);
	ssize_t len;

	if (!mapped)
		return NULL;
	/* The stream keeps the arena mapped while it exists. */
	mapped->arena = arena;
	mapped->bit = bit;
	mapped->target = pid;
	mapped->same_ids = same_ids;
	len = readlink("/proc/self/exe", mapped->executable, sizeof mapped->executable - 1);
	/* Without /proc the path of the program is unknown, but its mappings are still useful. */
	if (len <= 0)
		strcpy(mapped->executable, "[program]");
	if (!find_or_add_process(mapped, pid) ||
	    (same_ids && !find_or_add_process(mapped, ptx_proc_own()))) {
		/* The list is one allocation, and its entries own no memory yet. */
		free(mapped->process);
		free(mapped);
		return NULL;
	}
	/* The target is looked at even if no stream was inherited. */
	mapped->process[0].is_member = true;
	mapped->process[0].number = number;
	pthread_mutex_init(&mapped->looking, NULL);
	pthread_mutex_init(&mapped->lock, NULL);
	return mapped;
}

/* This function is not called during a look: the flush has ended its threads before. */
void ptx_mapped_destroy(struct ptx_mapped *mapped)
{
	if (!mapped)
		return;
	for (size_t i = 0; i < mapped->processes; i++)
		ptx_mapped_set_fini(&mapped->process[i].set);
	free(mapped->process);
	ptx_mappings_fini(&mapped->noted);
	pthread_mutex_destroy(&mapped->looking);
	pthread_mutex_destroy(&mapped->lock);
	free(mapped);
}
