/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_open.c - opens a log: determines whether the file is a log, whether the log is
 * complete or being written, and reads the description of the log.
 *
 * This file implements the rules R1 to R4 of log/FORMAT 6, and calls the functions for the rules
 * R5, R6 and R8. The usual log is complete. Then only its header and parts of its tail are read
 * and, if the log has slots, all its INDEX blocks and the header of one DATA block.
 * stored_private.h explains the words of log/FORMAT, such as tail, TOP, slot and closing area.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/zstd.h"
#include "cursor/stored_private.h"
#include "log/format_origin.h"
#include "log/format_skips.h"

/* How long a reader waits for a guardian: enough to complete a log of terabytes. */
#define GUARDIAN_WAIT_NS INT64_C(10000000000)

/* The last 16 bytes of a log that was completed (FORMAT 3.9). */
struct ending {
	uint64_t end_offset;
	char magic[8];
};

/*
 * Duplicates the descriptor, so that the file stays open when the program closes its own
 * descriptor. Only a regular file is accepted, because pread() must work. O_PATH and write-only
 * descriptors cannot be read. Returns 0, EINVAL, or an error of ptx_file_duplicate().
 */
static int private_descriptor(int fd, int *own)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	/* POSIX requires EINVAL from posix_trace_open() if the descriptor is no trace log. */
	if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == O_WRONLY || fstat(fd, &st) ||
	    !S_ISREG(st.st_mode))
		return EINVAL;
	/* An error such as EMFILE is returned as it is, because it is no fault of the log. */
	return ptx_file_duplicate(fd, own);
}

/*
 * Returns the checked payload of the block of this type at `offset`, or NULL. The offset comes from
 * the file. So the function checks that it is a multiple of 8 (FORMAT B1), and ptx_log_find()
 * checks that the block ends within the file.
 */
static const void *stored_open_fetch(struct ptx_stored *stored, uint64_t offset,
				     enum ptx_log_type type, struct ptx_log_found *found)
{
	const char *why;

	if (offset & 7 ||
	    ptx_log_find(&stored->window, offset, UINT64_MAX, stored->header.log_id, found, &why) !=
		    PTX_LOG_GOOD ||
	    found->block.type != type)
		return NULL;
	return ptx_log_payload(&stored->window, found, &why);
}

/*
 * Copies the TOP block, because later reads of other blocks move the window. *good becomes true if
 * TOP is valid. The function returns 0 or ENOMEM. After ENOMEM the log cannot be opened, although
 * it may be intact.
 */
static int read_top(struct ptx_stored *stored, uint64_t offset, bool *good)
{
	const struct ptx_log_place *place;
	struct ptx_log_found found;

	/*
	 * stored_open_fetch() checks the entries: offsets are possible, and time_top never
	 * decreases.
	 */
	place = stored_open_fetch(stored, offset, PTX_LOG_TOP, &found);
	/* FORMAT I1, R2: an index that cannot be used makes the log incomplete. */
	*good = place != NULL;
	/* A log without events has an empty TOP, and malloc(0) may return NULL. */
	if (!place || !found.block.records)
		return 0;
	stored->top = malloc(found.block.payload_bytes);
	if (!stored->top)
		return ENOMEM;
	memcpy(stored->top, place, found.block.payload_bytes);
	/* The array has no spare room, because it grows only when a log is recovered. */
	stored->tops = stored->tops_max = found.block.records;
	return 0;
}

/*
 * For a LOOP log, makes the list of slots from all INDEX blocks. The caller has set *good to true.
 * *good becomes false if an INDEX block is not valid, or if a place in it is in front of the slots.
 * The member time_max of a slot becomes the time_top of its place, which is the greatest time up to
 * this block. Seeks need a time that never decreases. In a hostile log, TOP may name one INDEX
 * block many times, INDEX blocks may overlap, and a compressed one may have a million places. So
 * *good also becomes false if an INDEX block begins before the end of the block before it, or if
 * the log has more places than the file has room for slots. Returns 0, or ENOMEM if there is no
 * memory for the list.
 */
static int read_slots(struct ptx_stored *stored, bool *good)
{
	const struct ptx_log_header *h = &stored->header;
	const uint64_t room = stored->window.file_bytes / h->slot_bytes;
	struct ptx_log_found found = { .end = 0 };
	size_t max = 0;

	for (size_t i = 0; i < stored->tops; i++) {
		const uint64_t end = found.end;
		const struct ptx_log_place *place =
			stored_open_fetch(stored, stored->top[i].offset, PTX_LOG_INDEX, &found);

		*good = place && found.offset >= end &&
			found.block.records <= room - stored->slots;
		if (!*good)
			return 0;
		for (uint32_t n = 0; n < found.block.records; n++, place++) {
			struct ptx_stored_slot *slot;

			if (!ptx_stored_room(&stored->slot, sizeof(*slot), stored->slots, &max))
				return ENOMEM;
			/*
			 * The member `number` is set by number_slots(), when all places are known.
			 */
			slot = &stored->slot[stored->slots++];
			memset(slot, 0, sizeof(*slot));
			slot->offset = place->offset;
			/* The cursor identifies the block by this member when it reads the slot. */
			slot->first_record = place->first_record;
			slot->time_min = place->time_min;
			slot->time_max = place->time_top;
			/*
			 * The place must not be in the areas before the slots: the cursor would
			 * read a block of names there as events.
			 */
			if (place->offset < h->slots_offset) {
				*good = false;
				return 0;
			}
		}
	}
	return 0;
}

/*
 * The index has no numbers of blocks. The function computes the numbers from the number of the
 * first block whose header is valid, on the assumption that numbers rise by one. stored_belongs()
 * in stored.c handles logs whose numbers do not rise by one. Returns false if no block is valid.
 */
static bool number_slots(struct ptx_stored *stored)
{
	struct ptx_log_found found;
	const char *why;

	for (size_t i = 0; i < stored->slots; i++) {
		if (ptx_log_find(&stored->window, stored->slot[i].offset, UINT64_MAX,
				 stored->header.log_id, &found, &why) != PTX_LOG_GOOD)
			continue;
		/*
		 * The numbers are counted backwards and forwards from this block. In a hostile log
		 * they may wrap around.
		 */
		for (size_t n = 0; n < stored->slots; n++)
			stored->slot[n].number = found.block.number - i + n;
		return true;
	}
	/* A log without events needs no numbers. */
	return !stored->slots;
}

/*
 * Reads the lists of the tail: schemas, objects and mappings. Each list is directly behind the
 * previous list (FORMAT 3.9). A log with a damaged list counts as complete, but the function does
 * not read the damaged list and the lists behind it. ptx_check_log() reports the damage. Returns 0
 * or ENOMEM.
 */
static int read_lists(struct ptx_stored *stored, uint64_t offset)
{
	struct ptx_log_found found;
	const void *payload = stored_open_fetch(stored, offset, PTX_LOG_SCHEMAS, &found);
	int err;

	if (!payload)
		return 0;
	err = ptx_log_decode_schemas(&found.block, payload, &stored->lists);
	if (err)
		return err;
	payload = stored_open_fetch(stored, found.end, PTX_LOG_OBJECTS, &found);
	err = payload ? ptx_log_decode_objects(&found.block, payload, &stored->lists) : 0;
	if (!payload || err)
		return err;
	payload = stored_open_fetch(stored, found.end, PTX_LOG_MAPPINGS, &found);
	return payload ? ptx_log_decode_mappings(&found.block, payload, &stored->lists) : 0;
}

/* Adds the events that the budget skipped to the ledger. A damaged block adds none. */
static void read_skips(struct ptx_stored *stored, uint64_t offset)
{
	struct ptx_log_found found;
	const void *payload = stored_open_fetch(stored, offset, PTX_LOG_SKIPS, &found);

	if (payload)
		ptx_log_decode_skips(&found.block, payload, &stored->ledger);
}

/*
 * FORMAT R2: reads the tail. The last 16 bytes of the file give the place of END, and END gives the
 * places of the other blocks. *complete becomes true if END, NAMES, LEDGER and TOP are valid, and
 * in a log of slots also all INDEX blocks. Otherwise stored_open_forget() later removes the members
 * that were set, before the log is recovered. Returns 0 or ENOMEM.
 */
static int read_ending(struct ptx_stored *stored, bool *complete)
{
	uint64_t size = stored->window.file_bytes;
	const struct ptx_log_end *end;
	const struct ending *ending;
	const void *payload;
	struct ptx_log_found found;
	struct ptx_log_end copy;
	bool good = false;
	int err;

	*complete = false;
	/*
	 * The length of every part of a log is a multiple of 8, so a file of another length is
	 * incomplete.
	 */
	if (size & 7 || size < PTX_LOG_HEADER_BYTES + sizeof(*end))
		return 0;
	ending = ptx_log_window_at(&stored->window, size - sizeof(*ending), sizeof(*ending));
	/*
	 * If there is no END, the log was not completed, or its end is missing. Then the rules R3
	 * to R6 apply.
	 */
	if (!ending || memcmp(ending->magic, PTX_LOG_END_MAGIC, sizeof(ending->magic)))
		return 0;
	end = stored_open_fetch(stored, ending->end_offset, PTX_LOG_END, &found);
	/* FORMAT E1: the END block ends the file. */
	if (!end || found.end != size)
		return 0;
	copy = *end; /* the window moves with the next read */

	payload = stored_open_fetch(stored, copy.names_offset, PTX_LOG_NAMES, &found);
	if (!payload)
		return 0;
	/* Complete logs repeat all names in the tail, so earlier NAMES blocks are not read. */
	ptx_log_decode_names(&found.block, payload, &stored->names);
	/* FORMAT R2: without its ledger the log is not complete. */
	payload = stored_open_fetch(stored, copy.ledger_offset, PTX_LOG_LEDGER, &found);
	if (!payload)
		return 0;
	err = ptx_log_decode_ledger(&found.block, payload, &stored->ledger);
	/* A block between LEDGER and END is a SKIPS block: a budget has skipped events. */
	if (!err && found.end < copy.end_offset)
		read_skips(stored, found.end);
	if (!err)
		/*
		 * The index makes seeks fast. In a completed log of slots, the index is also the
		 * only list of the blocks.
		 */
		err = read_top(stored, copy.top_offset, &good);
	/* In a sequence the cursor reads an INDEX block when a seek needs the block. */
	if (!err && good && !ptx_stored_is_sequence(stored)) {
		err = read_slots(stored, &good);
		good = good && number_slots(stored);
	}
	/* lists_offset is 0 in logs without lists, and in logs of version 1.0. */
	if (!err && good && copy.lists_offset)
		err = read_lists(stored, copy.lists_offset);
	if (err || !good)
		return err;
	stored->sum = copy.sum;
	/* From here on nothing fails. */
	stored->has_ledger = true;
	/* No block can begin behind END, so the cursor stops where END begins. */
	stored->data_end = copy.end_offset;
	stored->tail = copy.top_offset;
	*complete = true;
	return 0;
}

/* Returns true if the closing area is valid and has this state. */
static bool closing_has_state(const struct ptx_stored *stored, const char *state)
{
	const struct ptx_log_closing *closing = &stored->header.closing;

	return ptx_log_closing_is_valid(closing) &&
	       !memcmp(closing->state, state, sizeof(closing->state));
}

/*
 * FORMAT R4. Returns true if a writer may still write the log. When a writer has died, its guardian
 * completes the log. The guardian needs some milliseconds, or some seconds for a large log, and the
 * reader waits until the guardian has ended. The wait is bounded, because a guardian may be
 * stopped, or the file system of the log may hang. If the guardian has not ended after this time,
 * the log counts as being written. If `waits` is false, the function does not wait, and sets
 * *has_guardian if the guardian runs.
 */
static bool is_being_written(const struct ptx_stored *stored, bool waits, bool *has_guardian)
{
	const struct ptx_log_header *h = &stored->header;
	struct ptx_log_file_id file = { .device = h->file_device, .inode = h->file_inode };
	struct ptx_log_writer writer = {
		.pid = h->writer_pid,
		.start = h->writer_start,
		.pid_space = h->writer_pid_space,
	};

	/*
	 * Writer and guardian have the same boot id and pid namespace. Only the process id and the
	 * start time differ.
	 */
	memcpy(writer.boot_id, h->boot_id, sizeof(writer.boot_id));
	/*
	 * FORMAT R4 compares the device and the inode number. If they differ, this file is only a
	 * copy of the log, and the writer writes into another file.
	 */
	if (!ptx_log_is_file(stored->window.fd, &file))
		return false;
	if (ptx_log_writer_may_run(&writer))
		return true;
	/*
	 * There is no guardian for a log in a pipe, for a log that was ended, for a log of a
	 * version before 1.2, and for a writer that has started none.
	 */
	if (!closing_has_state(stored, PTX_LOG_WRITING) || !h->closing.guardian_pid)
		return false;
	/* The guardian runs on the same machine and in the same namespace as the writer did. */
	writer.pid = h->closing.guardian_pid;
	writer.start = h->closing.guardian_start;
	if (waits)
		return !ptx_log_writer_ends(&writer, GUARDIAN_WAIT_NS);
	*has_guardian = ptx_log_writer_may_run(&writer);
	return *has_guardian;
}

/*
 * Frees everything that was read, and makes the members empty. Afterwards the log is read again or
 * closed.
 */
static void stored_open_forget(struct ptx_stored *stored)
{
	free(stored->top);
	free(stored->slot);
	/* Members that are read again must be as after calloc(). */
	stored->top = NULL;
	stored->slot = NULL;
	stored->tops = stored->tops_max = stored->slots = 0;
	memset(&stored->names, 0, sizeof(stored->names));
	memset(&stored->sum, 0, sizeof(stored->sum));
	ptx_read_lists_fini(&stored->lists);
	ptx_ledger_fini(&stored->ledger);
}

/*
 * FORMAT R3 to R6: the log has no valid tail, so the function searches its blocks. A closing area
 * with the state "closed" gives the status and the total (FORMAT R3). If events may be lost, the
 * status has a flush error. Returns 0 or ENOMEM.
 */
static int stored_open_recover(struct ptx_stored *stored)
{
	const struct ptx_log_closing *closing = &stored->header.closing;
	const bool closed = closing_has_state(stored, PTX_LOG_CLOSED);
	uint64_t skipped;
	int err;

	stored_open_forget(stored);
	err = ptx_stored_is_sequence(stored) ? ptx_stored_recover_sequence(stored) :
					       ptx_stored_recover_slots(stored);
	if (err)
		return err;
	if (closed) {
		if (!stored->complete) {
			stored->sum.status = closing->sum.status;
			/*
			 * If the status has no error of the writer, the log was truncated or
			 * damaged later.
			 */
			if (!stored->sum.status.flush_error)
				stored->sum.status.flush_error = EIO;
		}
		/*
		 * The total in the closing area also counts losses, which the blocks do not show.
		 * It does not count skipped events, so the number from the SKIPS block is added to
		 * it.
		 */
		skipped = stored->has_ledger ? stored->ledger.total.lost[PTX_LOST_BUDGET] : 0;
		ptx_log_line_load(&stored->ledger.total, &closing->total);
		stored->ledger.total.called += skipped;
		stored->ledger.total.lost[PTX_LOST_BUDGET] = skipped;
		stored->has_total = true;
	}
	if (!stored->complete && !stored->live && !stored->sum.status.flush_error)
		stored->sum.status.flush_error = EIO; /* events may be lost (LOG-16) */
	return 0;
}

/*
 * Implements FORMAT R1, R2 and, if stored->salvage is true, R8. Only a caller that requests salvage
 * gets a log with a repaired header, because the repair guesses attributes, and other callers would
 * trust them. Returns 0, EINVAL, ENOTSUP or ENOMEM.
 */
static int read_ends(struct ptx_stored *stored)
{
	enum ptx_log_verdict verdict;
	const char *why;
	const void *bytes;

	bytes = ptx_log_window_at(&stored->window, 0, sizeof(stored->header));
	/* The file is shorter than a header, or cannot be read. */
	if (!bytes)
		return EINVAL;
	/* Checks the rules H1 to H6 of log/FORMAT. */
	verdict = ptx_log_decode_header(bytes, sizeof(stored->header), &stored->header, &why);
	if (verdict == PTX_LOG_DAMAGED && stored->salvage) {
		/* ptx_check_log() and ptx_stored_damaged_parts() report the damage. */
		stored->header_damage = why;
		ptx_stored_repair(stored);
	} else if (verdict != PTX_LOG_GOOD) {
		return EINVAL;
	}
	/* Without libzstd the events of a compressed log could not be read. */
	if (stored->header.flags_incompatible & PTX_LOG_COMPRESSED_LOG && !ptx_zstd_load())
		return ENOTSUP;
	ptx_log_decode_facts(&stored->header, &stored->facts);
	return read_ending(stored, &stored->complete);
}

/*
 * Reads header and tail again. The file may have changed since the first reading, so everything
 * that was read before is discarded. The errors are those of read_ends(), and EBADF.
 */
static int read_ends_again(struct ptx_stored *stored)
{
	const int fd = stored->window.fd;
	int err;

	stored_open_forget(stored);
	/* A new window has the file's new size and no old bytes. */
	ptx_log_window_close(&stored->window);
	err = ptx_log_window_open(&stored->window, fd);
	return err ? err : read_ends(stored);
}

/*
 * Decides between a complete log, a log that is being written, and a log that has to be recovered.
 * Sorts the lists at the end, because the order in the file may be any order. The errors are those
 * of ptx_stored_open(), and EBUSY.
 */
static int stored_open_examine(struct ptx_stored *stored, bool waits)
{
	int err = read_ends(stored);
	bool has_guardian = false;

	/*
	 * The log may be completed between the first reading and the call of is_being_written()
	 * (FORMAT R4). So a log that is neither complete nor closed is read once more, if it is to
	 * be opened.
	 */
	if (!err && !stored->complete && !closing_has_state(stored, PTX_LOG_CLOSED)) {
		stored->live = is_being_written(stored, waits, &has_guardian);
		/*
		 * FORMAT R4: a log that is being written is opened only for salvage. A program may
		 * try again later.
		 */
		if (stored->live && !stored->salvage)
			err = has_guardian ? EBUSY : EINVAL;
		else
			err = read_ends_again(stored);
	}
	/* A log that was complete at the first or at the second reading is not recovered. */
	if (!err && stored->complete)
		/* END is the last block, so no writer adds a block. */
		stored->live = false;
	else if (!err)
		err = stored_open_recover(stored);
	ptx_objects_sort(stored->lists.object, stored->lists.objects);
	ptx_mappings_settle(&stored->lists.mappings);
	return err;
}

/*
 * The descriptor is duplicated first, so that the file stays open even if the program closes its
 * descriptor. Each label undoes one step. errno is unchanged. Returns 0 or an error number.
 */
static int stored_open_file(int fd, bool salvage, bool waits, struct ptx_stored **result)
{
	int saved = errno, own, err;
	struct ptx_stored *stored;

	err = private_descriptor(fd, &own);
	if (err)
		goto out;
	/* From here on a failure must close the descriptor. */
	err = ENOMEM;
	stored = calloc(1, sizeof(*stored));
	if (!stored)
		goto undo_descriptor;
	stored->salvage = salvage;
	ptx_ledger_init(&stored->ledger);
	err = ptx_log_window_open(&stored->window, own);
	if (err)
		goto undo_stored;
	err = stored_open_examine(stored, waits);
	if (err)
		goto undo_window;
	/* The cursor begins with the first event and without a limit. */
	ptx_stored_until(stored, INT64_MAX);
	ptx_stored_rewind(stored);
	*result = stored;
	goto out;
undo_window:
	stored_open_forget(stored);
	ptx_log_window_close(&stored->window);
undo_stored:
	free(stored);
undo_descriptor:
	ptx_io_close(own);
out:
	errno = saved;
	return err;
}

int ptx_stored_open(int fd, bool salvage, struct ptx_stored **result)
{
	return stored_open_file(fd, salvage, true, result);
}

int ptx_stored_open_now(int fd, bool salvage, struct ptx_stored **result)
{
	return stored_open_file(fd, salvage, false, result);
}

/* The descriptor is closed only if the program has not put another file at its number. */
void ptx_stored_close(struct ptx_stored *stored)
{
	ptx_file_close(stored->window.fd, &stored->window.file);
	stored_open_forget(stored);
	ptx_log_window_close(&stored->window);
	free(stored);
}
