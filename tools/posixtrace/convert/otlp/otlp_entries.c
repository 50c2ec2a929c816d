/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * otlp_entries.c - the temporary files. The first has the entries in blocks. The second has the
 * bodies one behind the other. The third has the struct otlp_begin of each span that has begun.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/whole.h"
#include "convert/otlp/otlp.h"

#define BLOCK_BYTES (OTLP_BLOCK * sizeof(struct otlp_entry))

/* Moves the bytes of otlp->body to the file of bodies, and stores their place. */
static int move_body(struct otlp *otlp, uint64_t *at, uint32_t *len)
{
	struct proto *body = &otlp->body;

	if (body->failed)
		return ENOMEM;
	if (body->used > UINT32_MAX)
		return EFBIG;
	*at = otlp->bodies_used;
	*len = (uint32_t)body->used;
	out_bytes(otlp->bodies, body->bytes, body->used);
	otlp->bodies_used += body->used;
	body->used = 0;
	return otlp->bodies->err;
}

int otlp_add(struct otlp *otlp, struct otlp_entry *entry)
{
	size_t place = otlp->entries % OTLP_BLOCK;
	int err = move_body(otlp, &entry->body_at, &entry->body_len);

	if (err)
		return err;
	otlp->entry[place] = *entry;
	otlp->entries++;
	if (place + 1 < OTLP_BLOCK)
		return 0;
	return whole_pwrite(otlp->entries_fd, otlp->entry, BLOCK_BYTES,
			    (otlp->entries - OTLP_BLOCK) * sizeof(*entry));
}

/*
 * The offset in the file follows from the number of the span. These numbers are not greater than
 * the number of events, so the file has no large holes.
 */
int otlp_keep_begin(struct otlp *otlp, uint64_t id, struct otlp_begin *begin)
{
	int err = move_body(otlp, &begin->at, &begin->len);

	return err ? err : whole_pwrite(otlp->begins_fd, begin, sizeof(*begin),
					id * sizeof(*begin));
}

int otlp_get_begin(struct otlp *otlp, uint64_t id, struct otlp_begin *begin)
{
	return whole_pread(otlp->begins_fd, begin, sizeof(*begin), id * sizeof(*begin));
}

/* Visits the entries of the block in memory. */
static int visit_block(struct otlp *otlp, size_t count, bool backwards,
		       int (*visit)(void *arg, struct otlp_entry *entry), void *arg)
{
	int err = 0;

	for (size_t i = 0; !err && i < count; i++)
		err = visit(arg, &otlp->entry[backwards ? count - 1 - i : i]);
	return err;
}

int otlp_visit(struct otlp *otlp, bool backwards,
	       int (*visit)(void *arg, struct otlp_entry *entry), void *arg)
{
	uint64_t blocks = (otlp->entries + OTLP_BLOCK - 1) / OTLP_BLOCK;
	size_t last = otlp->entries % OTLP_BLOCK;
	int err = 0;

	/*
	 * The last block is written in full length, so that all blocks can be read in the same way.
	 */
	if (backwards && last)
		err = whole_pwrite(otlp->entries_fd, otlp->entry, BLOCK_BYTES,
				   (blocks - 1) * BLOCK_BYTES);
	for (uint64_t i = 0; !err && i < blocks; i++) {
		uint64_t block = backwards ? blocks - 1 - i : i;
		size_t count = block + 1 == blocks && last ? last : OTLP_BLOCK;

		err = whole_pread(otlp->entries_fd, otlp->entry, BLOCK_BYTES, block * BLOCK_BYTES);
		if (!err)
			err = visit_block(otlp, count, backwards, visit, arg);
		if (!err && backwards)
			err = whole_pwrite(otlp->entries_fd, otlp->entry, BLOCK_BYTES,
					   block * BLOCK_BYTES);
	}
	return err;
}
