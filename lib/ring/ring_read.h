/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/ring_read.h - the read side of ring.h.
 *
 * A reader copies bytes out of a chunk and then claims them; a claim that fails means that the
 * chunk was overwritten meanwhile, and the copy is worth nothing. What is in shared memory is
 * hostile until the copy has been checked.
 */
#ifndef PTX_RING_RING_READ_H
#define PTX_RING_RING_READ_H

#include "ring/ring.h"

/* Where a reader is in one ring. */
struct ptx_place {
	uint64_t link; /* the chunk; 0 = the ring has not been entered yet */
	uint32_t claimed;
};

enum ptx_claim {
	PTX_CLAIM_NOTHING, /* nothing new */
	PTX_CLAIM_BYTES,
	PTX_CLAIM_LOST     /* the reader's chunk was overwritten: find the ring again */
};

/*
 * The reader of one ring. A copy of it with a buffer of its own can look on from the same place and
 * changes nothing for the first.
 */
struct ptx_reader {
	struct ptx_rings *rings;
	unsigned char *buffer; /* chunk_room bytes, the caller's */
	uint32_t ring;
	/* The next three describe the bytes in the buffer after PTX_CLAIM_BYTES. */
	uint32_t bytes;
	bool fresh;             /* they begin a chunk */
	struct ptx_ident ident; /* of that chunk, if fresh */
	struct ptx_place place;
};

/*
 * Copies the new bytes of the reader's chunk to the buffer and claims them. Continues with the next
 * chunk, and frees the one before, when that was claimed whole.
 */
enum ptx_claim ptx_ring_take(struct ptx_reader *reader);

/* The same without claiming or freeing. */
enum ptx_claim ptx_ring_look(struct ptx_reader *reader);

/*
 * A reader that must not free what it has not put away, in a stream without policy LOOP: chunks
 * that it has left are remembered, and freed together. See struct ptx_rings.debts.
 */
struct ptx_debts {
	uint32_t count, room;
	struct ptx_debt {
		uint32_t number;
		uint64_t word;
	} *chunk;
};

/* Now the chunks that were left are free. */
void ptx_ring_settle(struct ptx_rings *rings);

/* What stands before offset in the reader's chunk is done with. */
void ptx_ring_done(struct ptx_rings *rings, const struct ptx_place *place, uint32_t offset);

/*
 * The oldest chunk of ring that is still there. *before: records of the ring before it, modulo
 * 2^32. False: it went away meanwhile, and the place is lost as it was.
 */
bool ptx_ring_find(struct ptx_rings *rings, uint32_t ring, struct ptx_place *place,
		   uint32_t *before);

/*
 * The same of those chunks that begin with record number from or a later one: who frees nothing and
 * has seen what came before. A chunk may be left though younger ones of its ring are overwritten:
 * the thread that was about to overwrite it was killed, or takes its time.
 */
bool ptx_ring_find_from(struct ptx_rings *rings, uint32_t ring, uint32_t from,
			struct ptx_place *place, uint32_t *before);

/*
 * When the chunk at link was opened. False if it is no longer there; else it was there all the time
 * since its link was loaded, so what the caller loaded of it in between is of this life of it.
 */
bool ptx_ring_opened(const struct ptx_rings *rings, uint64_t link, uint64_t *opened);

/* Records of the ring before the chunk at link; false: it is no longer there. */
bool ptx_ring_before(const struct ptx_rings *rings, uint64_t link, uint32_t *before);

/* What the ring's writer is about, as seen after a barrier. */
struct ptx_writer {
	uint64_t link;   /* its chunk */
	uint64_t head;
	uint64_t opened; /* when that chunk was opened */
	bool inside;     /* it may hold an earlier time than now, not published yet (L) */
};
void ptx_ring_watch(struct ptx_rings *rings, uint32_t ring, struct ptx_writer *writer);

/*
 * The length of the run of well-formed records at the start of bytes; *records of them are events
 * and *last is the latest time. Less than bytes: what follows is no record.
 */
uint32_t ptx_records_check(const struct ptx_rings *rings, const unsigned char *bytes,
			   uint32_t length, uint32_t *records, uint64_t *last);

/* Records that the ring's writer has published by now, or some time before it was caught in the
 * middle of the next chunk; modulo 2^32, as *before above. */
uint32_t ptx_ring_records(struct ptx_rings *rings, uint32_t ring);

/* Events that a ring's writers have published, by their own count; and of all rings. */
uint64_t ptx_ring_published_by(struct ptx_rings *rings, uint32_t ring);
uint64_t ptx_ring_published(struct ptx_rings *rings);

#endif
