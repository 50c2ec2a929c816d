/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rules.h - the rules that a log must satisfy, one in each line, and their results.
 *
 * [NAME:] every EVENT is followed by EVENT [of the same FIELD[, FIELD]...] [within SPAN]
 * [NAME:] never EVENT
 * [NAME:] never lock LOCK then LOCK
 * [NAME:] count EVENT <= NUMBER (also < == >= >)
 * [NAME:] rate EVENT <= NUMBER per SPAN (also <)
 *
 * EVENT is a pattern for names of event types, optionally followed by where "EXPRESSION". # begins
 * a comment. The constants RULES_* limit the memory.
 */
#ifndef POSIXTRACE_RULES_RULES_H
#define POSIXTRACE_RULES_RULES_H

#include "choose/where.h"
#include "log/logfile.h"

#define RULES_MAX      1000
#define RULES_LINE     4096   /* bytes of a line */
#define RULES_PENDING  65536  /* open obligations of all rules together */
#define RULES_WINDOW   65536  /* greatest number in a rule "rate" */
/* threads for which times of locks are kept, for all rules together */
#define RULES_HOLDERS  16384
/* at most this number of violations of a rule is printed; all are counted */
#define RULES_REASONS  10

enum rule_kind { RULE_EVERY, RULE_NEVER, RULE_ORDER, RULE_COUNT, RULE_RATE };

enum rule_relation { RULE_LESS, RULE_AT_MOST, RULE_EQUAL, RULE_AT_LEAST, RULE_MORE };

struct rule_event {
	char *pattern;
	struct where *where;   /* the expression; NULL: all events of the types */
	bool exists;           /* the log has an event type, or lock, that the pattern matches */
	/* at least one of the event types that match the pattern has the fields of the rule */
	bool has_fields;
};

struct rule {
	enum rule_kind kind;
	unsigned line;
	char *text;            /* the rule without its name */
	char *name;            /* NULL: none */
	struct rule_event first, second; /* for RULE_ORDER: the patterns of the two locks */
	char *field[POSIX_TRACE_KEYS_MAX_NP];
	unsigned fields;       /* number of key fields; 0: the thread is the key */
	uint64_t within_ns;    /* the span of "within", 0: none; for RULE_RATE the span of "per" */
	enum rule_relation relation;
	uint64_t number;
	/* Results. */
	uint64_t cases;        /* events that the rule concerns */
	uint64_t violations, undecided;
	/*
	 * Number of lost events that the rule concerns, according to the ledger. With these events
	 * the result could be different.
	 */
	uint64_t lost;
	char *reason[RULES_REASONS];
	int64_t *window;       /* for RULE_RATE: the last times, in a circular array */
};

struct rules {
	const char *path;
	struct rule *rule;
	size_t count;
	unsigned errors;       /* number of errors printed */
};

/*
 * Reads the rules. If the file cannot be read or memory is lacking, prints that and returns false.
 * For each wrong rule it prints an error and increments rules->errors.
 */
bool rules_read(struct rules *rules, const char *path);
/*
 * Adds one rule, which is a part of the line "number" of the file "path". Before the first call,
 * *rules must be empty. Returns false after it printed an error. A text without a rule is an error,
 * too. "path" must exist until rules_fini().
 */
bool rules_add(struct rules *rules, const char *path, unsigned number, const char *text);
void rules_fini(struct rules *rules);

#endif
