/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * finding.h - what a decoder of a foreign format finds wrong with its input.
 *
 * Decoders know nothing of files, messages and exit statuses: they tell what they find, by the code
 * that the manual page gives it (T08, E05) and the offset in the input. Who called them decides.
 */
#ifndef POSIXTRACE_CONVERT_FINDING_H
#define POSIXTRACE_CONVERT_FINDING_H

#include <stdbool.h>
#include <stdint.h>

enum finding_kind {
	FINDING_NOTICE,  /* nothing is wrong */
	FINDING_WARNING, /* odd; everything is kept */
	FINDING_DAMAGE,  /* something is missing or was dropped; the rest is kept */
	FINDING_REFUSAL  /* nothing can be read */
};

struct findings {
	/* code may be NULL. */
	void (*tell)(void *arg, enum finding_kind kind, uint64_t offset, const char *code,
		     const char *text);
	void *arg;
};

/* 0, or EINVAL for a refusal. Without findings nothing is told. */
int finding(struct findings *findings, enum finding_kind kind, const char *code, uint64_t offset,
	    const char *format, ...) __attribute__((format(printf, 5, 6)));

struct fmt_flow;

/* Findings that become faults of the flow. */
void findings_of_flow(struct findings *findings, struct fmt_flow *flow);

#endif
