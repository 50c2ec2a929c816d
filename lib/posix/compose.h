/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/compose.h - a log being composed: what making and ending it (compose.c) and its events
 * (compose_event.c) share.
 *
 * Threads   one at a time, as its caller sees to.
 */
#ifndef PTX_POSIX_COMPOSE_H
#define PTX_POSIX_COMPOSE_H

#include "log/log.h"
#include "record/ledger.h"

struct posix_trace_composer_np {
	struct ptx_log *log;
	size_t data_max;
	unsigned next_type;
	unsigned user_types;
	bool lost;
	uint64_t run;               /* events of one thread that are not in its line yet */
	struct ptx_ident who;
	char *name[PTX_TYPE_MAX];
	struct ptx_ledger ledger;
};

/* The thread's line gets what was put since another thread's turn. */
void ptx_composer_settle(struct posix_trace_composer_np *composer);

#endif
