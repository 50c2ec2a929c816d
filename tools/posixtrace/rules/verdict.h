/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* verdict.h - prints the results of the rules, for people and for programs that run tests. */
#ifndef POSIXTRACE_RULES_VERDICT_H
#define POSIXTRACE_RULES_VERDICT_H

#include "rules/rules.h"

struct logfile;
struct out;

/* Each of these functions prints the results of all rules in their order. */
void verdict_text(struct out *out, const struct rules *rules);
void verdict_tap(struct out *out, const struct rules *rules);
void verdict_junit(struct out *out, const struct rules *rules, const char *log);

/* These functions print that no rule could be checked. */
void verdict_tap_none(struct out *out);
void verdict_junit_none(struct out *out);

/*
 * Warns about names in rules that no event type or lock of the log has, with the most similar name.
 * Also warns about rules for which all matching event types lack a field. If the log lacks the
 * first event type of a rule, the rule was not tested. Only a rule "count" is tested in this case,
 * too.
 */
void verdict_warn(const struct rules *rules, const struct logfile *log);

#endif
