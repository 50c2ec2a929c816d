/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/loop_cut.h - the overwrite cut of a LOOP stream, applied by the reader.
 */
#ifndef PTX_DRAIN_LOOP_CUT_H
#define PTX_DRAIN_LOOP_CUT_H

#include "drain/drain.h"

/*
 * Drops all records and marks that are not younger than the cut. Sets drain->gap if it counts an
 * event as overwritten, so that OVERFLOW reports the loss. The caller has the stream's lock.
 */
void ptx_loop_cut_apply(struct ptx_drain *drain);

#endif
