/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/damaged.h - compares the output of posixtrace verify and dump of a damaged log with dump's
 * output of the sound one. It asserts the rules of test_damage.c for both.
 */
#ifndef PTX_TESTS_DAMAGED_H
#define PTX_TESTS_DAMAGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/run_tool.h"

struct lines { /* of dump */
	uint64_t *hash;
	size_t count;
};

bool is_in_order(const struct lines *some, const struct lines *all);
bool is_beginning(const struct lines *some, const struct lines *all);

struct sound { /* the log before the damage, and the output of dump */
	struct text log;
	struct lines lines;
	size_t blocks;
};

/* A sequence in blocks of a hundred events, or a LOOP log: the same bytes in each run. */
enum sound_kind { SOUND_BLOCKS, SOUND_LOOP };
struct sound sound_make(enum sound_kind kind, uint64_t events);
void sound_free(struct sound *sound);

struct verdict {
	int status;
	size_t events;
	bool told; /* has the number of events, because the log could be opened */
};

/* what and where describe the damage for messages. */
struct verdict verify(const char *log, size_t log_len, const char *what, size_t where);

/* A part that dump does not read, such as the index, may be damaged if no event is missing. */
struct lines dump(const char *log, const struct verdict *verdict, const struct sound *sound,
		  const char *what, size_t where);

#endif
