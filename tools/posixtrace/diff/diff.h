/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* diff.h - the two forms of the result of the command diff. */
#ifndef POSIXTRACE_DIFF_DIFF_H
#define POSIXTRACE_DIFF_DIFF_H

#include "diff/compare.h"

struct out;

/*
 * Both print the comparisons. Unless all is set, diff_text() omits those that have neither a test
 * nor losses.
 */
void diff_text(struct out *out, const struct compare *compare, const struct sample *a,
	       const struct sample *b, bool all);
void diff_json(struct out *out, const struct compare *compare, const struct sample *a,
	       const struct sample *b);

#endif
