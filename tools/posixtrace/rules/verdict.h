/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * verdict.h - what became of the rules, for people and for those who run tests.
 */
#ifndef POSIXTRACE_RULES_VERDICT_H
#define POSIXTRACE_RULES_VERDICT_H

#include "rules/rules.h"

struct logfile;
struct out;

void verdict_text(struct out *out, const struct rules *rules);
void verdict_tap(struct out *out, const struct rules *rules);
void verdict_junit(struct out *out, const struct rules *rules, const char *log);

/* When nothing could be checked. */
void verdict_tap_none(struct out *out);
void verdict_junit_none(struct out *out);

/*
 * Warns of names in rules that no event type, or no lock, of the log has, with the nearest one that
 * is there, and of those whose event types all lack a field of the rule. A rule without a first
 * event type was not checked; but to count what is not there is a check.
 */
void verdict_warn(const struct rules *rules, const struct logfile *log);

#endif
