/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* diff.h - the two functions that print the result of the command diff, as text and as JSON. */
#ifndef POSIXTRACE_DIFF_DIFF_H
#define POSIXTRACE_DIFF_DIFF_H

#include "diff/compare.h"

struct out;

/*
 * Both functions print the comparisons. If "all" is false, diff_text() omits the comparisons that
 * have no interval and no losses.
 */
void diff_text(struct out *out, const struct compare *compare, const struct sample *a,
	       const struct sample *b, bool all);
void diff_json(struct out *out, const struct compare *compare, const struct sample *a,
	       const struct sample *b);

#endif
