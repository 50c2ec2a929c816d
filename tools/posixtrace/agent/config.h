/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * config.h - the configuration of the agent: which processes it records, and when it writes logs.
 *
 * The file has sections, "[agent]", "[record NAME]" and "[trigger NAME]", and lines "key = value".
 * A line that begins with # or ; is a comment. posixtrace-agent.conf(5) describes the keys. The
 * table in config_keys.c is the only list of them.
 *
 * A configuration is not changed after it was read. Recorders use the strings of the one with which
 * they began, so users counts them. One thread uses it.
 */
#ifndef POSIXTRACE_AGENT_CONFIG_H
#define POSIXTRACE_AGENT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CONFIG_NAME_MAX	  32 /* bytes of the name of a section, which is a part of file names */
#define CONFIG_LINE_MAX	  4096
#define CONFIG_ERRORS_MAX 65536 /* the greatest number of a trigger on errors */
#define CONFIG_BYTES_MAX  (1u << 20)

/* Values of a key that may be repeated. */
struct config_words {
	char **word;
	size_t count;
};

/* [record NAME]: the processes for which each kind of condition that is given has a match. */
struct config_record {
	char *name;
	unsigned line;
	struct config_words executable; /* patterns for the path of the program */
	struct config_words user;	/* names or numbers */
	uid_t *uid;			/* of each user */
	struct config_words cgroup;	/* patterns for the path of the control group */
	struct config_words unit;	/* patterns for a component of that path */
	bool injects;
	char *families; /* as record --trace; NULL: the default */
	struct config_words event, exclude;
	bool has_durations; /* the metrics have its event types and spans */
	size_t size;	    /* of the stream, in bytes */
	char *text;	    /* keys and values in one string, to compare two versions */
};

enum config_when {
	CONFIG_CRASH,	/* the process was killed by a signal that is no request to end */
	CONFIG_FAILURE, /* or exited with a status other than 0 */
	CONFIG_END,	/* ended in any way */
	CONFIG_SPAN,	/* a span took longer than span_ns */
	CONFIG_ERRORS	/* more than a number of failed calls in span_ns */
};

/* [trigger NAME] */
struct config_trigger {
	char *name;
	unsigned line;
	struct config_words record; /* patterns for names of [record]; none: all */
	bool has_when;
	enum config_when when;
	char *when_text;
	char *pattern; /* for names of spans or event types */
	int64_t span_ns;
	size_t errors;
	int64_t hold_off_ns;
};

struct config {
	unsigned users;
	const char *path; /* not owned */
	/* [agent] */
	bool has_agent;
	char *folder;
	int64_t interval_ns; /* between two searches for processes */
	uint64_t quota;	     /* bytes of all logs; 0: no limit */
	bool refuses;	     /* a new log that exceeds the quota is not written */
	int64_t expire_ns;   /* 0: never */
	char *textfile;	     /* for metrics; NULL: none */
	char *listen;	     /* ADDRESS:PORT for metrics; NULL: none */
	struct config_record **record;
	size_t records;
	struct config_trigger **trigger;
	size_t triggers;
};

/*
 * Reads a file. Returns NULL after it printed every fault as FILE:LINE: REASON. The caller has one
 * use of the result.
 */
struct config *config_read(const char *path);

/* config_use() counts one more user. config_drop() frees the configuration after the last one. */
struct config *config_use(struct config *config);
void config_drop(struct config *config);

/* Returns true if the list is empty, or if one of its patterns matches. */
bool config_matches(const struct config_words *patterns, const char *text);

/* Returns the [record] of this name, or NULL. */
const struct config_record *config_record_of(const struct config *config, const char *name);

/* In config_keys.c; for config.c only. */
struct config_place {
	struct config *config;
	struct config_record *record; /* the open section, or NULL */
	struct config_trigger *trigger;
	unsigned line;
	bool in_agent; /* the open section is [agent] */
	bool failed;   /* a fault was printed */
};

/* Prints FILE:LINE: and the text. */
void config_fault(struct config_place *place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Processes a line "key = value" of the open section, and prints a fault in it. */
void config_key(struct config_place *place, const char *key, const char *value);

/* Begins to count the keys of a new section, of which most may be given once only. */
void config_keys_begin(void);

#endif
