/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/loop_cut.h - applies the cut of a LOOP stream. The cut is the time up to which writers have
 * overwritten events.
 *
 * Threads   the caller holds the stream's lock.
 */
#ifndef PTX_DRAIN_LOOP_CUT_H
#define PTX_DRAIN_LOOP_CUT_H

#include "drain/drain.h"

/*
 * Drops all records that are not younger than the cut. Applies and removes all marks that are not
 * younger than the cut, but no event reports these marks. If a record was dropped as overwritten,
 * sets drain->gap, so that OVERFLOW reports the loss.
 */
void ptx_loop_cut_apply(struct ptx_drain *drain);

#endif
