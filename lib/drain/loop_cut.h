/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/loop_cut.h - what a LOOP stream has overwritten, as the reader meets it.
 */
#ifndef PTX_DRAIN_LOOP_CUT_H
#define PTX_DRAIN_LOOP_CUT_H

#include "drain/drain.h"

/* Drops what is not younger than what was overwritten; drain->gap says if it is to be told. */
void ptx_loop_cut_apply(struct ptx_drain *drain);

#endif
