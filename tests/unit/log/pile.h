/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/log/pile.h - records of a block, packed and unpacked in memory of exactly the size that
 * log/format_pack.h requires.
 */
#ifndef PTX_TESTS_PILE_H
#define PTX_TESTS_PILE_H

#include <stdbool.h>

#include "log/format_pack.h"

/* All members must be zeros at the beginning. */
struct pile {
	uint8_t *bytes;
	size_t len, room;
	uint32_t records;
	int64_t time_min, time_max;
};

struct packed {
	struct ptx_log_block block; /* the header of the block; payload_crc is right */
	uint8_t *payload;           /* malloc'ed */
};

#define PILE_THREADS 3u
extern const struct ptx_log_source pile_threads[PILE_THREADS];

/* Adds a record; its data is some bytes that are not zero. */
void pile_add(struct pile *pile, uint32_t len_flags, uint16_t type, uint16_t source,
	      uint64_t address, int64_t time);
/* Makes up to 300 records, which are similar in some blocks and not in others. */
void pile_random(struct pile *pile, uint64_t *random);
void pile_free(struct pile *pile);

/*
 * Packs the records. Returns false, with payload NULL, if the block does not become smaller or has
 * too many shapes. In both cases, `shapes` is the number that the packer returns.
 */
bool pile_pack(const struct pile *pile, struct packed *packed);

/* Computes payload_crc again. */
void packed_seal(struct packed *packed);

/* Checks a block as a reader does. Returns NULL, or the reason why the block is not valid. */
const char *packed_check(const struct packed *packed);

/*
 * Does the same as a reader: checks the block and, if it is packed, unpacks it. Returns NULL, and
 * stores records and table, malloc'ed. Or returns the reason of a failure, and stores NULL.
 */
const char *packed_read(const struct packed *packed, uint8_t **records);

/* A packed block that the test builds. The test may change the parts between two events. */
struct hand {
	uint8_t events[300000];
	size_t len;
	uint32_t records;
	struct ptx_log_shape shape[1u << 14];
	uint32_t shapes;
};

struct hand *hand_new(void);
void hand_shape(struct hand *hand, uint32_t len_flags, uint16_t type, uint16_t source,
		uint64_t address);
/*
 * Adds an event of a known shape with 2^w bytes of time, and with the data that pile_add() would
 * make.
 */
void hand_event(struct hand *hand, unsigned shape, unsigned w, uint64_t span);
/* Returns the block of `hand`, with pile_threads, and frees `hand`. */
struct packed hand_over(struct hand *hand, size_t record_bytes, int64_t time_min, int64_t time_max);

#endif
