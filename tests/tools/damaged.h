/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/damaged.h - compares the outputs of posixtrace verify and dump for a damaged log with the
 * output of dump for the sound log. It asserts the rules of test_damage.c for both outputs.
 */
#ifndef PTX_TESTS_DAMAGED_H
#define PTX_TESTS_DAMAGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/run_tool.h"

struct lines { /* the lines that dump has printed */
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

/* The log is a sequence with blocks of a hundred events, or a LOOP log. Each run makes the same
 * bytes. */
enum sound_kind { SOUND_BLOCKS, SOUND_LOOP };
struct sound sound_make(enum sound_kind kind, uint64_t events);
void sound_free(struct sound *sound);

struct verdict {
	int status;
	size_t events;
	bool told; /* events is valid: verify has printed the number of events */
};

/* what and where describe the damage for messages. */
struct verdict verify(const char *log, size_t log_len, const char *what, size_t where);

/* Runs dump on the damaged log. If no event is missing, the damage may be in a part that dump does
 * not read, such as the index. */
struct lines dump(const char *log, const struct verdict *verdict, const struct sound *sound,
		  const char *what, size_t where);

#endif
