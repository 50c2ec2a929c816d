/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/ring_read.h - the read side of ring.h.
 *
 * A reader copies bytes out of a chunk and then claims them. If the claim fails, a writer has
 * overwritten the chunk meanwhile, and the reader discards the copy. Content of shared memory is
 * hostile until the reader has checked its copy.
 *
 * Threads   one reader of a stream at a time, and any number of observers.
 */
#ifndef PTX_RING_RING_READ_H
#define PTX_RING_RING_READ_H

#include "ring/ring.h"

/* The place of a reader in one ring. */
struct ptx_place {
	uint64_t link; /* the chunk; 0 = the ring has not been entered yet */
	uint32_t claimed;
};

enum ptx_claim {
	PTX_CLAIM_NOTHING, /* nothing new */
	PTX_CLAIM_BYTES,
	/* the reader's chunk was overwritten: the caller calls ptx_ring_find() */
	PTX_CLAIM_LOST
};

/*
 * The reader of one ring. An observer can copy this struct, give the copy another buffer, and
 * continue from the same place. The original is not affected.
 */
struct ptx_reader {
	struct ptx_rings *rings;
	unsigned char *buffer; /* memory of the caller, geometry.chunk_room bytes */
	uint32_t ring;
	/* The next three members describe the bytes in the buffer after PTX_CLAIM_BYTES. */
	uint32_t bytes;
	bool fresh;             /* the bytes are the first bytes of a chunk */
	struct ptx_ident ident; /* of that chunk, if `fresh` is true */
	struct ptx_place place;
};

/*
 * Copies the new bytes of the reader's chunk to the buffer and claims them. When all bytes of a
 * closed chunk are claimed, the function frees the chunk, or records it as a debt, and continues
 * with the next chunk.
 */
enum ptx_claim ptx_ring_take(struct ptx_reader *reader);

/* For observers: copies the new bytes in the same way, but claims nothing and frees nothing. */
enum ptx_claim ptx_ring_look(struct ptx_reader *reader);

/*
 * The chunks that a reader has left and not freed. A reader needs this list if it must not free a
 * chunk before the log has the chunk's events. It then frees all chunks of the list together. A
 * stream with policy LOOP has no such list. See struct ptx_rings.debts.
 */
struct ptx_debts {
	uint32_t count, room;
	struct ptx_debt {
		uint32_t number;
		uint64_t word;
	} *chunk;
};

/* Frees the chunks that the reader has left. */
void ptx_ring_settle(struct ptx_rings *rings);

/* Reports that the reader needs no bytes before `offset` in its chunk any more. */
void ptx_ring_done(struct ptx_rings *rings, const struct ptx_place *place, uint32_t offset);

/*
 * Moves the place to the oldest chunk that the ring still has. *before is the number of the ring's
 * records before that chunk, modulo 2^32. Returns false if the ring has no chunk, or if a writer
 * has overwritten the chunk meanwhile. In both cases the place is not valid.
 */
bool ptx_ring_find(struct ptx_rings *rings, uint32_t ring, struct ptx_place *place,
		   uint32_t *before);

/*
 * Like ptx_ring_find(), but ignores each chunk whose first record has a number before `from`. This
 * function is for an observer that has seen the earlier records. Without `from` it could see
 * records again: an old chunk can remain although younger chunks of its ring are overwritten,
 * because the thread that was about to overwrite the old chunk was killed or suspended.
 */
bool ptx_ring_find_from(struct ptx_rings *rings, uint32_t ring, uint32_t from,
			struct ptx_place *place, uint32_t *before);

/*
 * Stores in *opened the time at which the chunk that `link` names was opened. Returns false if the
 * chunk was reused. Otherwise everything that the caller loaded from the chunk after the link
 * belongs to this use of the chunk.
 */
bool ptx_ring_opened(const struct ptx_rings *rings, uint64_t link, uint64_t *opened);

/*
 * Stores the number of the ring's records before the chunk that `link` names. Returns false if the
 * chunk was reused.
 */
bool ptx_ring_before(const struct ptx_rings *rings, uint64_t link, uint32_t *before);

/* The state of the ring's writer, as seen after a barrier. */
struct ptx_writer {
	uint64_t link;   /* the writer's chunk */
	uint64_t head;
	uint64_t opened; /* when that chunk was opened */
	bool inside;     /* the writer may have stamped a record that it has not published (L) */
};
void ptx_ring_watch(struct ptx_rings *rings, uint32_t ring, struct ptx_writer *writer);

/*
 * Returns the length of the well-formed records at the start of `bytes`. *records is the number of
 * events among them, *last the latest time. If the result is less than `length`, the bytes from
 * that offset on are not a well-formed record.
 */
uint32_t ptx_records_check(const struct ptx_rings *rings, const unsigned char *bytes,
			   uint32_t length, uint32_t *records, uint64_t *last);

/*
 * Returns the number of records that the ring's writer has published, modulo 2^32. If the writer is
 * just changing chunks, the number may describe the moment before the change.
 */
uint32_t ptx_ring_records(struct ptx_rings *rings, uint32_t ring);

/* Return the number of events that the writers of one ring, or of all rings, have published. */
uint64_t ptx_ring_published_by(struct ptx_rings *rings, uint32_t ring);
uint64_t ptx_ring_published(struct ptx_rings *rings);

#endif
