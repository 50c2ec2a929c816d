/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* verdict.h - prints the results of the rules, for people and for programs that run tests. */
#ifndef POSIXTRACE_RULES_VERDICT_H
#define POSIXTRACE_RULES_VERDICT_H

#include "rules/rules.h"

struct logfile;
struct out;

/* Each prints all rules in their order. */
void verdict_text(struct out *out, const struct rules *rules);
void verdict_tap(struct out *out, const struct rules *rules);
void verdict_junit(struct out *out, const struct rules *rules, const char *log);

/* For a run in which no rule could be checked. */
void verdict_tap_none(struct out *out);
void verdict_junit_none(struct out *out);

/*
 * Warns about names in rules that no event type or lock of the log has, with the most similar name,
 * and about rules whose event types all lack a field. If the log does not have a rule's first event
 * type, the rule was not tested, except for a rule "count".
 */
void verdict_warn(const struct rules *rules, const struct logfile *log);

#endif
