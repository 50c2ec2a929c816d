/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* finding.c - passes a finding of a decoder, as text, to the decoder's caller. */
#include "convert/finding.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int finding(struct findings *findings, enum finding_kind kind, const char *code, uint64_t offset,
	    const char *format, ...)
{
	char text[512];
	va_list args;

	/*
	 * A refusal ends the decoder, even if "findings" is NULL and no caller receives the
	 * finding.
	 */
	if (!findings)
		return kind == FINDING_REFUSAL ? EINVAL : 0;
	/*
	 * The length of the text is limited, because the text may quote names from a hostile input.
	 */
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	findings->report(findings->arg, kind, offset, code, text);
	return kind == FINDING_REFUSAL ? EINVAL : 0;
}
