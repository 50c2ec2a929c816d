/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * diff.h - the two ways to print what `posixtrace diff` found.
 */
#ifndef POSIXTRACE_DIFF_DIFF_H
#define POSIXTRACE_DIFF_DIFF_H

#include "diff/compare.h"

struct out;

/* all: also what could not be tested. */
void diff_text(struct out *out, const struct compare *compare, const struct sample *a,
	       const struct sample *b, bool all);
void diff_json(struct out *out, const struct compare *compare, const struct sample *a,
	       const struct sample *b);

#endif
