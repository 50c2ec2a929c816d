/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/compose.h - the state of a log that is being composed.
 *
 * compose.c makes and completes the log, and compose_event.c adds events.
 *
 * Threads   one caller at a time; the program ensures that.
 */
#ifndef PTX_POSIX_COMPOSE_H
#define PTX_POSIX_COMPOSE_H

#include "log/log.h"
#include "record/ledger.h"

/* The opaque struct of <trace_np.h>. */
struct posix_trace_composer_np {
	struct ptx_log *log;
	/* the longest data of an event in bytes */
	size_t data_max;
	unsigned next_type;
	unsigned user_types;
	/* true if events were counted as lost with a cause other than CLEARED */
	bool lost;
	/*
	 * `run` is the number of events of the thread in `writer` that are not counted in its line
	 * yet
	 */
	uint64_t run;
	struct ptx_ident writer;
	/* the names by type; NULL: the type has none */
	char *name[PTX_TYPE_MAX];
	struct ptx_ledger ledger;
};

/* Adds `run` to the line of the thread in `writer`. */
void ptx_composer_count_run(struct posix_trace_composer_np *composer);

#endif
