/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rules.h - what must be true of a log, a rule a line, and what became of each.
 *
 *	[NAME:] every EVENT is followed by EVENT [of the same FIELD[, FIELD]...] [within SPAN]
 *	[NAME:] never EVENT
 *	[NAME:] never lock LOCK then LOCK
 *	[NAME:] count EVENT <= NUMBER            also < == >= >
 *	[NAME:] rate EVENT <= NUMBER per SPAN    also <
 *
 * EVENT is a pattern of names of event types, perhaps with where "EXPRESSION" behind it. # begins a
 * comment. Memory is bounded: see RULES_*.
 */
#ifndef POSIXTRACE_RULES_RULES_H
#define POSIXTRACE_RULES_RULES_H

#include "choose/where.h"
#include "log/logfile.h"

#define RULES_MAX      1000
#define RULES_LINE     4096   /* bytes of a line */
#define RULES_PENDING  65536  /* events that still want another, of all rules */
#define RULES_WINDOW   65536  /* the greatest number of a rate */
#define RULES_HOLDERS  16384  /* threads that held a lock of an order, of all rules */
#define RULES_TOLD     10     /* violations of a rule that are told; all are counted */

enum rule_kind { RULE_EVERY, RULE_NEVER, RULE_ORDER, RULE_COUNT, RULE_RATE };

enum rule_relation { RULE_LESS, RULE_AT_MOST, RULE_EQUAL, RULE_AT_LEAST, RULE_MORE };

struct rule_event {
	char *pattern;
	struct where *where;   /* NULL: all */
	bool exists;           /* the log has such an event type */
	bool has_fields;       /* one of them has the fields of the rule */
};

struct rule {
	enum rule_kind kind;
	unsigned line;
	char *text;            /* without its name */
	char *name;            /* or the text */
	struct rule_event first, second; /* patterns of locks in an order */
	char *field[POSIX_TRACE_KEYS_MAX_NP];
	unsigned fields;       /* 0: the thread */
	uint64_t within_ns;    /* 0: whenever; of a rate its span */
	enum rule_relation relation;
	uint64_t number;
	/* what became of it */
	uint64_t cases;        /* events that it is about */
	uint64_t violations, undecided;
	/* events that it is about, by the ledger: they may decide it otherwise */
	uint64_t lost;
	char *told[RULES_TOLD];
	int64_t *window;       /* of a rate, the last times: a ring */
};

struct rules {
	const char *path;
	struct rule *rule;
	size_t count;
	unsigned errors;       /* they have been said */
};

/* False: the file cannot be read, or there is no memory; that has been said. See errors, too. */
bool rules_read(struct rules *rules, const char *path);
void rules_fini(struct rules *rules);

#endif
