/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_traps.h - the state of the recording of functions by uprobes. kernel_traps.c makes calls
 * from the records. weave_traps.c adds to the log where the files of the functions were mapped.
 */
#ifndef POSIXTRACE_LIVE_KERNEL_TRAPS_H
#define POSIXTRACE_LIVE_KERNEL_TRAPS_H

#include "base/table.h"
#include "live/kernel.h"
#include "uprobes/match.h"

/* A file that is mapped in a process, and the time of the first record that shows it. */
struct kernel_module {
	pid_t pid;
	uint32_t file;    /* index in plan.traps->file */
	uint64_t bias;    /* an address in the process minus that in the file */
	int64_t from_ns;  /* CLOCK_REALTIME */
};

struct kernel_traps {
	/* each call of kernel_traps_extend() adds an element with the new places */
	struct uprobes *uprobes;
	size_t uprobeses;
	struct match match;
	/* one for each of the first "places" elements of plan.traps->trap */
	struct match_place *place;
	size_t places;
	struct kernel_module *module;
	size_t modules;
	struct table of_module;
	struct uprobes_values **values; /* of each place; NULL for one without values */
	bool wants_calls, wants_opens; /* the types of events that are chosen */
};

/*
 * Begins to record the places that were appended to plan.traps since the last call, too. The
 * recording must be active. Returns NULL, or the reason why that is impossible. After an error the
 * new places have no effect.
 */
const char *kernel_traps_extend(struct kernel *kernel);

#endif
