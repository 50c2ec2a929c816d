/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_open.c - what kind of log this is, and what it says of itself.
 *
 * FORMAT 6 numbers the rules that stand here as R1 to R4, and R8.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "cursor/stored_private.h"
#include "log/format_origin.h"

#define GUARDIAN_WAIT_NS INT64_C(10000000000)

/* What stands in the last 16 bytes of a log that was completed. */
struct ending {
	uint64_t end_offset;
	char magic[8];
};

static int private_descriptor(int fd, int *own)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == O_WRONLY || fstat(fd, &st) ||
	    !S_ISREG(st.st_mode))
		return EINVAL;
	return ptx_file_duplicate(fd, own);
}

static const void *fetch(struct ptx_stored *stored, uint64_t offset, enum ptx_log_type type,
			 struct ptx_log_found *found)
{
	const char *why;

	if (offset & 7 ||
	    ptx_log_find(&stored->window, offset, UINT64_MAX, stored->header.log_id, found, &why) !=
		    PTX_LOG_GOOD ||
	    found->block.type != type)
		return NULL;
	return ptx_log_payload(&stored->window, found, &why);
}

static int take_top(struct ptx_stored *stored, uint64_t offset, bool *good)
{
	const struct ptx_log_place *place;
	struct ptx_log_found found;

	place = fetch(stored, offset, PTX_LOG_TOP, &found);
	*good = place != NULL;
	if (!place || !found.block.records)
		return 0;
	stored->top = malloc(found.block.payload_bytes);
	if (!stored->top)
		return ENOMEM;
	memcpy(stored->top, place, found.block.payload_bytes);
	stored->tops = stored->tops_max = found.block.records;
	return 0;
}

/* LOOP: where the blocks are, from all INDEX blocks. */
static int take_slots(struct ptx_stored *stored, bool *good)
{
	const struct ptx_log_header *h = &stored->header;
	struct ptx_log_found found;
	size_t max = 0;

	for (size_t i = 0; i < stored->tops; i++) {
		const struct ptx_log_place *place =
			fetch(stored, stored->top[i].offset, PTX_LOG_INDEX, &found);

		*good = place != NULL;
		if (!place)
			return 0;
		for (uint32_t n = 0; n < found.block.records; n++, place++) {
			struct ptx_stored_slot *slot;

			if (!ptx_stored_room(&stored->slot, sizeof(*slot), stored->slots, &max))
				return ENOMEM;
			slot = &stored->slot[stored->slots++];
			memset(slot, 0, sizeof(*slot));
			slot->offset = place->offset;
			slot->first_record = place->first_record;
			slot->time_min = place->time_min;
			slot->time_max = place->time_top;
			if (place->offset < h->slots_offset) {
				*good = false;
				return 0;
			}
		}
	}
	return 0;
}

/* Numbers are not in the index: they follow the first block's. */
static bool number_slots(struct ptx_stored *stored)
{
	struct ptx_log_found found;
	const char *why;

	for (size_t i = 0; i < stored->slots; i++) {
		if (ptx_log_find(&stored->window, stored->slot[i].offset, UINT64_MAX,
				 stored->header.log_id, &found, &why) != PTX_LOG_GOOD)
			continue;
		for (size_t n = 0; n < stored->slots; n++)
			stored->slot[n].number = found.block.number - i + n;
		return true;
	}
	return !stored->slots;
}

/* A log is complete without them: its types are opaque then, and ptx_check_log() says why. */
static int take_said(struct ptx_stored *stored, uint64_t offset)
{
	struct ptx_log_found found;
	const void *payload = fetch(stored, offset, PTX_LOG_SCHEMAS, &found);
	int err;

	if (!payload)
		return 0;
	err = ptx_log_decode_schemas(&found.block, payload, &stored->said);
	if (err)
		return err;
	payload = fetch(stored, found.end, PTX_LOG_OBJECTS, &found);
	err = payload ? ptx_log_decode_objects(&found.block, payload, &stored->said) : 0;
	if (!payload || err)
		return err;
	payload = fetch(stored, found.end, PTX_LOG_MAPPINGS, &found);
	return payload ? ptx_log_decode_mappings(&found.block, payload, &stored->said) : 0;
}

/* R2. *complete: END and all that it names are good. */
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
	if (size & 7 || size < PTX_LOG_HEADER_BYTES + sizeof(*end))
		return 0;
	ending = ptx_log_window_at(&stored->window, size - sizeof(*ending), sizeof(*ending));
	if (!ending || memcmp(ending->magic, PTX_LOG_END_MAGIC, sizeof(ending->magic)))
		return 0;
	end = fetch(stored, ending->end_offset, PTX_LOG_END, &found);
	if (!end || found.end != size)
		return 0;
	copy = *end; /* the window moves on */

	payload = fetch(stored, copy.names_offset, PTX_LOG_NAMES, &found);
	if (!payload)
		return 0;
	ptx_log_decode_names(&found.block, payload, &stored->names);
	payload = fetch(stored, copy.ledger_offset, PTX_LOG_LEDGER, &found);
	if (!payload)
		return 0;
	err = ptx_log_decode_ledger(&found.block, payload, &stored->ledger);
	if (!err)
		err = take_top(stored, copy.top_offset, &good);
	if (!err && good && !ptx_stored_is_sequence(stored)) {
		err = take_slots(stored, &good);
		good = good && number_slots(stored);
	}
	if (!err && good && copy.lists_offset)
		err = take_said(stored, copy.lists_offset);
	if (err || !good)
		return err;
	stored->sum = copy.sum;
	stored->has_ledger = true;
	stored->data_end = copy.end_offset;
	stored->tail = copy.top_offset;
	*complete = true;
	return 0;
}

/* Valid, and with this state. */
static bool closing_says(const struct ptx_stored *stored, const char *state)
{
	const struct ptx_log_closing *closing = &stored->header.closing;

	return ptx_log_closing_is_valid(closing) &&
	       !memcmp(closing->state, state, sizeof(closing->state));
}

/*
 * R4. When the writer has died its guardian completes the log. That takes some milliseconds, or
 * seconds of a large log, and a reader waits for it. It does not wait for ever, since a guardian
 * may be stopped or its file system may hang.
 */
static bool is_being_written(const struct ptx_stored *stored)
{
	const struct ptx_log_header *h = &stored->header;
	struct ptx_log_file_id file = { .device = h->file_device, .inode = h->file_inode };
	struct ptx_log_writer writer = {
		.pid = h->writer_pid,
		.start = h->writer_start,
		.pid_space = h->writer_pid_space,
	};

	memcpy(writer.boot_id, h->boot_id, sizeof(writer.boot_id));
	if (!ptx_log_is_file(stored->window.fd, &file))
		return false;
	if (ptx_log_writer_may_run(&writer))
		return true;
	if (!closing_says(stored, PTX_LOG_WRITING) || !h->closing.guardian_pid)
		return false;
	writer.pid = h->closing.guardian_pid;
	writer.start = h->closing.guardian_start;
	return !ptx_log_writer_ends(&writer, GUARDIAN_WAIT_NS);
}

static void forget(struct ptx_stored *stored)
{
	free(stored->top);
	free(stored->slot);
	stored->top = NULL;
	stored->slot = NULL;
	stored->tops = stored->tops_max = stored->slots = 0;
	memset(&stored->names, 0, sizeof(stored->names));
	memset(&stored->sum, 0, sizeof(stored->sum));
	ptx_read_lists_fini(&stored->said);
	ptx_ledger_fini(&stored->ledger);
}

/* R3 to R6. */
static int recover(struct ptx_stored *stored)
{
	const struct ptx_log_closing *closing = &stored->header.closing;
	const bool closed = closing_says(stored, PTX_LOG_CLOSED);
	int err;

	forget(stored);
	err = ptx_stored_is_sequence(stored) ? ptx_stored_recover_sequence(stored) :
					       ptx_stored_recover_slots(stored);
	if (err)
		return err;
	if (closed) {
		if (!stored->complete) {
			stored->sum.status = closing->sum.status;
			if (!stored->sum.status.flush_error) /* it was cut or damaged later */
				stored->sum.status.flush_error = EIO;
		}
		stored->ledger.total = closing->total;
		stored->has_total = true;
	}
	if (!stored->complete && !stored->live && !stored->sum.status.flush_error)
		stored->sum.status.flush_error = EIO; /* LOG-16: something was lost after all */
	return 0;
}

/* R1, R2, R8. */
static int read_ends(struct ptx_stored *stored)
{
	enum ptx_log_verdict verdict;
	const char *why;
	const void *bytes;

	bytes = ptx_log_window_at(&stored->window, 0, sizeof(stored->header));
	if (!bytes)
		return EINVAL;
	verdict = ptx_log_decode_header(bytes, sizeof(stored->header), &stored->header, &why);
	if (verdict == PTX_LOG_DAMAGED && stored->salvage) {
		stored->header_damage = why;
		ptx_stored_repair(stored);
	} else if (verdict != PTX_LOG_GOOD) {
		return EINVAL;
	}
	ptx_log_decode_facts(&stored->header, &stored->facts);
	return read_ending(stored, &stored->complete);
}

/* The file may have grown since it was read: nothing that was read counts. */
static int read_ends_again(struct ptx_stored *stored)
{
	const int fd = stored->window.fd;
	int err;

	forget(stored);
	ptx_log_window_close(&stored->window);
	err = ptx_log_window_open(&stored->window, fd);
	return err ? err : read_ends(stored);
}

static int examine(struct ptx_stored *stored)
{
	int err = read_ends(stored);

	/* A log that is not complete is read once more after nobody writes it: it may have been
	 * completed between the first look and the question who writes it. */
	if (!err && !stored->complete && !closing_says(stored, PTX_LOG_CLOSED)) {
		stored->live = is_being_written(stored);
		if (stored->live && !stored->salvage)
			err = EINVAL;
		else
			err = read_ends_again(stored);
	}
	if (!err && stored->complete)
		stored->live = false;
	else if (!err)
		err = recover(stored);
	ptx_objects_sort(stored->said.object, stored->said.objects);
	ptx_mappings_settle(&stored->said.mappings);
	return err;
}

int ptx_stored_open(int fd, bool salvage, struct ptx_stored **result)
{
	int saved = errno, own, err;
	struct ptx_stored *stored;

	err = private_descriptor(fd, &own);
	if (err)
		goto out;
	err = ENOMEM;
	stored = calloc(1, sizeof(*stored));
	if (!stored)
		goto undo_descriptor;
	stored->salvage = salvage;
	ptx_ledger_init(&stored->ledger);
	err = ptx_log_window_open(&stored->window, own);
	if (err)
		goto undo_stored;
	err = examine(stored);
	if (err)
		goto undo_window;
	ptx_stored_until(stored, INT64_MAX);
	ptx_stored_rewind(stored);
	*result = stored;
	goto out;
undo_window:
	forget(stored);
	ptx_log_window_close(&stored->window);
undo_stored:
	free(stored);
undo_descriptor:
	ptx_io_close(own);
out:
	errno = saved;
	return err;
}

void ptx_stored_close(struct ptx_stored *stored)
{
	ptx_file_close(stored->window.fd, &stored->window.file);
	forget(stored);
	ptx_log_window_close(&stored->window);
	free(stored);
}
