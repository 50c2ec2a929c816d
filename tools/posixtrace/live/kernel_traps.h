/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_traps.h - the functions that uprobes record, while recording: kernel_traps.c makes calls
 * of their records, weave_traps.c adds to the log where their files were mapped.
 */
#ifndef POSIXTRACE_LIVE_KERNEL_TRAPS_H
#define POSIXTRACE_LIVE_KERNEL_TRAPS_H

#include "base/table.h"
#include "live/kernel.h"
#include "uprobes/match.h"

/* A file in a process, from the first record on. */
struct kernel_module {
	pid_t pid;
	uint32_t file;    /* index in plan.traps->file */
	uint64_t bias;    /* an address in the process minus that in the file */
	int64_t from_ns;  /* CLOCK_REALTIME */
};

struct kernel_traps {
	struct uprobes uprobes;
	struct match match;
	struct match_place *place;  /* as many as plan.traps->traps */
	struct kernel_module *module;
	size_t modules;
	struct table of_module;
	struct uprobes_values *values; /* of the probes, in the order of the places */
	bool wants_calls, wants_opens; /* the types of events that are chosen */
};

#endif
