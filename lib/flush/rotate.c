/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/rotate.c - a stream continues with another log.
 *
 * The old log has all events up to a moment, and the new log has all later events. The caller keeps
 * the turn from the last flush of the old log to the first checkpoint of the new log, so no other
 * flush is between the two. Writers and control calls continue meanwhile.
 *
 * A kill at any step leaves each event in one of the two logs:
 *
 *	1  transfers events to the old log for the last time
 *	2  writes the ledger for the guardian of the new log
 *	3  changes the member `log` of the status (checkpoint_flush.h): from now on the old log
 *	   may be closed
 *	4  writes the tail of the old log, and its closing area
 *	5  writes a checkpoint for the new log, without events
 *	6  changes the member `log` of the status: from now on the new log gets the events
 *
 * If this process is killed before step 6, the guardian of the old log continues the old log. If
 * the old log is closed already, this guardian removes the tail and adds the events that the new
 * log would have got. From step 6 on the old log is complete, and the guardian of the new log
 * continues the new log.
 *
 * The counts of a stream (its rings, the drain's account) are sums since its creation. The ledger
 * of a log is the ledger of the stream minus flush->closed, the sum of the ledgers of all earlier
 * logs. So an event that was called before the rotation, and is written or lost later, counts in
 * the new log only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/life.h"
#include "base/shield.h"
#include "flush/checkpoint_flush.h"
#include "flush/flush_private.h"

/*
 * The ledger in a file: the struct below, then `types` elements of struct type_line, then `threads`
 * elements of struct ptx_ledger_thread. Only a guardian of the same version reads it.
 */
#define CLOSED_MAGIC (UINT64_C(0x7074786c65640000) + sizeof(struct ptx_ledger_thread))

struct closed_head {
	uint64_t magic;
	uint32_t types, threads;
	struct ptx_ledger_line total;
};

struct type_line {
	uint64_t type;
	struct ptx_ledger_line line;
};

/*
 * If a process has changed its mappings within this time, the new log gets these mappings even if
 * the process has ended, because the new log may have the last events of this process.
 */
#define RECENT_NS INT64_C(1000000000)

/* The most lines of threads in the file. If the ledger has more, the file has none of them. */
#define CLOSED_THREADS 65536u

void ptx_flush_rotation_lock(struct ptx_flush *flush)
{
	pthread_mutex_lock(&flush->rotation);
}

void ptx_flush_rotation_unlock(struct ptx_flush *flush)
{
	pthread_mutex_unlock(&flush->rotation);
}

static bool has_events(const struct ptx_ledger_line *line)
{
	return line->called || ptx_ledger_sum(line);
}

/*
 * Writes the ledger to a file. A ledger of too many threads is written without their lines:
 * ptx_ledger_subtract() then subtracts their events from other lines. Returns 0 or an error number.
 */
static int write_closed(const struct ptx_ledger *ledger, int fd)
{
	const size_t threads = ledger->threads <= CLOSED_THREADS ? ledger->threads : 0;
	const size_t most = sizeof(struct closed_head) + PTX_TYPE_MAX * sizeof(struct type_line) +
			    threads * sizeof(struct ptx_ledger_thread);
	unsigned char *bytes = calloc(1, most), *to = bytes + sizeof(struct closed_head);
	struct closed_head head = { .magic = CLOSED_MAGIC, .threads = (uint32_t)threads,
				    .total = ledger->total };
	size_t done = 0;
	int err;

	if (!bytes)
		return ENOMEM;
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++) {
		const struct type_line entry = { type, ledger->type[type] };

		if (!has_events(&entry.line))
			continue;
		memcpy(to, &entry, sizeof(entry));
		to += sizeof(entry);
		head.types++;
	}
	if (threads)
		memcpy(to, ledger->thread, threads * sizeof(*ledger->thread));
	to += threads * sizeof(*ledger->thread);
	memcpy(bytes, &head, sizeof(head));
	err = ptx_io_write_at(fd, bytes, (size_t)(to - bytes), 0, &done);
	free(bytes);
	return err;
}

/* Reads `len` bytes at *at, and advances *at. Returns false if the file does not have them. */
static bool read_next(int fd, void *to, size_t len, uint64_t *at)
{
	size_t got = 0;

	if (ptx_io_read_at(fd, to, len, *at, &got) || got != len)
		return false;
	*at += len;
	return true;
}

/*
 * Reads the ledger that write_closed() has written. Returns 0, or EINVAL if the file has no such
 * ledger. The file may be hostile: its counts are bounded, and a wrong number only makes the log
 * wrong.
 */
static int read_closed(struct ptx_ledger *ledger, int fd)
{
	struct closed_head head;
	uint64_t at = 0;

	if (!read_next(fd, &head, sizeof(head), &at) || head.magic != CLOSED_MAGIC ||
	    head.types > PTX_TYPE_MAX || head.threads > CLOSED_THREADS)
		return EINVAL;
	ledger->total = head.total;
	for (uint32_t i = 0; i < head.types; i++) {
		struct type_line entry;

		if (!read_next(fd, &entry, sizeof(entry), &at) || entry.type >= PTX_TYPE_MAX)
			return EINVAL;
		ledger->type[entry.type] = entry.line;
	}
	for (uint32_t i = 0; i < head.threads; i++) {
		struct ptx_ledger_thread entry;

		if (!read_next(fd, &entry, sizeof(entry), &at))
			return EINVAL;
		*ptx_ledger_thread(ledger, entry.pid, entry.tid, entry.thread) = entry.line;
	}
	return 0;
}

/* Adds the reported events of the closed logs to the account of a new drain. */
static void report_closed(struct ptx_ledger *account, const struct ptx_ledger *closed)
{
	account->total.reported += closed->total.reported;
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		account->type[type].reported += closed->type[type].reported;
	for (size_t i = 0; i < closed->threads; i++) {
		const struct ptx_ledger_thread *entry = &closed->thread[i];

		if (entry->line.reported)
			ptx_ledger_thread(account, entry->pid, entry->tid, entry->thread)
				->reported += entry->line.reported;
	}
}

/* Returns an empty ledger, or NULL if there is no memory. */
static struct ptx_ledger *make_ledger(void)
{
	struct ptx_ledger *ledger = malloc(sizeof(*ledger));

	if (ledger)
		ptx_ledger_init(ledger);
	return ledger;
}

static void free_ledger(struct ptx_ledger *ledger)
{
	if (!ledger)
		return;
	ptx_ledger_fini(ledger);
	free(ledger);
}

int ptx_flush_read_closed(struct ptx_flush *flush, int ledger_fd)
{
	struct ptx_ledger *closed = make_ledger();
	int err = closed ? read_closed(closed, ledger_fd) : ENOMEM;

	if (err) {
		free_ledger(closed);
		return err;
	}
	report_closed(&flush->drain->account, closed);
	flush->closed = closed;
	return 0;
}

/*
 * Returns true if a process has certainly ended. If same_ids is false, `pid` is an id of another
 * pid namespace, and in the namespace of this process another process may have the same id. So the
 * result is then false.
 */
static bool has_ended(const void *arg, uint32_t pid)
{
	const struct ptx_drain *drain = arg;

	return drain->same_ids && ptx_life_by_kill(pid) == PTX_DEAD;
}

int ptx_flush_rotate_begin(struct ptx_flush *flush, const struct ptx_flush_caller *caller)
{
	struct ptx_shield shield;
	int err;

	/* Called before any lock of the stream is acquired, as in ptx_flush_run(). */
	ptx_mapped_look(flush->mapped, false);
	ptx_flush_wait_for_turn(flush, PTX_FLUSH_OF_LOG);
	ptx_shield_raise(&shield);
	err = ptx_flush_with_turn(flush, PTX_FLUSH_OF_LOG, caller);
	ptx_shield_lower(&shield);
	if (err)
		ptx_flush_release_turn(flush);
	return err;
}

/*
 * Makes flush->closing the ledger of the old log. *closed becomes the sum of this ledger and of the
 * ledgers of all earlier logs. The caller has the stream's lock. Returns 0 or an error number.
 * After an error flush->closing is empty.
 */
static int close_ledger(struct ptx_flush *flush, struct ptx_ledger **closed)
{
	struct ptx_ledger *sum = make_ledger(), *part = make_ledger();
	int err = sum && part ? ptx_drain_ledger_settled(flush->drain, &flush->closing) : ENOMEM;

	if (!err && flush->closed) {
		ptx_ledger_subtract(&flush->closing, flush->closed);
		err = ptx_ledger_copy(sum, flush->closed);
	}
	if (!err)
		err = ptx_ledger_copy(part, &flush->closing);
	if (!err) {
		/*
		 * ptx_log_complete() makes the same change in the ledger of the log: events that a
		 * LOOP log has overwritten are not reported.
		 */
		ptx_log_account(flush->log, part);
		ptx_ledger_add(sum, part);
		*closed = sum;
		sum = NULL;
	} else {
		ptx_ledger_fini(&flush->closing);
	}
	free_ledger(sum);
	free_ledger(part);
	return err;
}

/*
 * Gives all further events to the new log. The caller has the stream's lock, and the old log has
 * all events that the drain has delivered. The new log has no names and lists yet, so they are
 * added again. The status begins anew, too.
 */
static void switch_log(struct ptx_flush *flush, const struct ptx_flush_next *next, int err)
{
	flush->drain->log_full = false;
	ptx_checkpoint_log_begin(flush->drain, next->number);
	flush->log = next->log;
	memset(flush->named, 0, sizeof(flush->named));
	flush->descriptions = 0;
	memset(flush->described, 0, sizeof(flush->described));
	flush->objects = 0;
	memset(flush->object_stored, 0, sizeof(flush->object_stored));
	flush->overwritten = 0;
	flush->log_overrun = false;
	flush->failing = false;
	flush->error = err;
	ptx_flush_note_status(flush);
}

int ptx_flush_rotate_end(struct ptx_flush *flush, const struct ptx_flush_next *next,
			 const struct ptx_log_status *status)
{
	struct ptx_log *old = flush->log;
	struct ptx_ledger *closed = NULL;
	struct ptx_shield shield;
	int err, late;

	ptx_shield_raise(&shield);
	pthread_mutex_lock(flush->lock);
	/* The old log gets all names and lists. The new log gets a copy of the mappings. */
	ptx_transfer_rest(flush);
	err = ptx_log_mappings_copy(next->log, old, ptx_clock_realtime() - RECENT_NS, has_ended,
				    flush->drain);
	if (!err)
		err = close_ledger(flush, &closed);
	pthread_mutex_unlock(flush->lock);
	if (!err && next->ledger_fd >= 0)
		err = write_closed(closed, next->ledger_fd);
	if (err)
		goto out;
	ptx_checkpoint_log_closes(flush->drain, true);
	/*
	 * The old log has all its events, so only the write of its tail or of its closing area can
	 * fail.
	 */
	late = ptx_log_complete(old, status, &flush->closing);
	pthread_mutex_lock(flush->lock);
	/* The account of the stream keeps the losses of a LOOP log that is closed. */
	ptx_log_account(old, &flush->drain->account);
	switch_log(flush, next, late);
	free_ledger(flush->closed);
	flush->closed = closed;
	closed = NULL;
	pthread_mutex_unlock(flush->lock);
	ptx_log_destroy(old);
out:
	ptx_ledger_fini(&flush->closing);
	free_ledger(closed);
	ptx_shield_lower(&shield);
	ptx_flush_release_turn(flush);
	return err;
}
