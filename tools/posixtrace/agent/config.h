/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * config.h - the configuration of the agent: the processes that it records, and the triggers that
 * write logs.
 *
 * The file has sections, "[agent]", "[record NAME]" and "[trigger NAME]", and lines "key = value".
 * A line that begins with # or ; is a comment. posixtrace-agent.conf(5) describes the keys. The
 * table in config_keys.c is the only list of them.
 *
 * A configuration never changes after it was read. A recorder uses the strings of the configuration
 * with which it began, even if the agent has loaded a newer configuration. So the member "users"
 * counts the recorders and other users of a configuration. Only one thread uses a configuration.
 */
#ifndef POSIXTRACE_AGENT_CONFIG_H
#define POSIXTRACE_AGENT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* greatest length of a section's name, which is a part of file names */
#define CONFIG_NAME_MAX	  32
#define CONFIG_LINE_MAX	  4096
#define CONFIG_ERRORS_MAX 65536 /* the greatest NUMBER of "errors PATTERN > NUMBER per TIME" */
#define CONFIG_BYTES_MAX  (1u << 20)

/* The values of a key that may be given several times. */
struct config_words {
	char **word;
	size_t count;
};

/*
 * A section [record NAME]. A process must satisfy each kind of condition that the section has. If a
 * kind has several values, one matching value is enough.
 */
struct config_record {
	char *name;
	unsigned line;
	struct config_words executable; /* patterns for the path of the program */
	struct config_words user;	/* names or numbers */
	uid_t *uid;			/* the number of each user */
	struct config_words cgroup;	/* patterns for the path of the control group */
	/* patterns for a component of the path of the control group */
	struct config_words unit;
	bool injects;
	/* the families that the shim records, as in record --trace; NULL: the default */
	char *families;
	struct config_words event, exclude;
	/* the metrics have counts of its event types, and durations of its spans */
	bool has_durations;
	size_t size;	    /* size of the stream in bytes */
	/* share of the processor time for events; 0: the budget of [agent]; below 0: no limit */
	double budget;
	int compression;    /* level of zstd for the logs; 0: none */
	/* all keys and values in one string, to compare two versions of the section */
	char *text;
};

enum config_when {
	/* a signal that is no request to end has killed the process */
	CONFIG_CRASH,
	/* the process crashed (see CONFIG_CRASH), or exited with a status other than 0 */
	CONFIG_FAILURE,
	CONFIG_END,	/* the process ended in any way */
	CONFIG_SPAN,	/* a span took longer than span_ns */
	CONFIG_ERRORS,	/* more than "errors" calls failed within span_ns */
	CONFIG_RULE,	/* a rule of the command check is violated */
	CONFIG_EVERY	/* span_ns have passed since the last log, or since the agent began */
};

/* [trigger NAME] */
struct config_trigger {
	char *name;
	unsigned line;
	/* patterns for names of sections [record]; an empty list means all */
	struct config_words record;
	bool has_when;
	enum config_when when;
	char *when_text;
	char *pattern; /* a pattern for names of spans or event types */
	char *rule;    /* for CONFIG_RULE: the rule, which was parsed without an error */
	int64_t span_ns;
	size_t errors;
	int64_t hold_off_ns;
	int64_t last_ns; /* the log has only the events of the last last_ns ns; 0: all */
};

struct config {
	unsigned users;
	const char *path; /* an argument of the command line, which is not freed */
	/* [agent] */
	unsigned agent_line; /* 0: there is no section [agent] */
	char *folder;
	int64_t interval_ns; /* the time between two searches for processes */
	uint64_t quota;	     /* greatest number of bytes of all logs; 0: no limit */
	/* if the quota has no room, the new log is refused, and no old log is removed */
	bool refuses;
	int64_t expire_ns;   /* 0: never */
	bool is_spool;	     /* a log that is removed leaves its account for the command ship */
	double budget;	     /* for sections that have no budget; 0 or below: no limit */
	char *textfile;	     /* path of the file for metrics; NULL: none */
	char *listen;	     /* ADDRESS:PORT for metrics; NULL: none */
	struct config_record **record;
	size_t records;
	struct config_trigger **trigger;
	size_t triggers;
};

/*
 * Reads a file. If the file has faults, prints each fault as FILE:LINE: REASON and returns NULL.
 * The caller counts as the first user of the result.
 */
struct config *config_read(const char *path);

/*
 * Does the same for a client of the agent that runs, which needs only the member "folder". The
 * agent has loaded this file before, and the file may have got faults since. So the function prints
 * the faults, but returns NULL only if the file has no absolute folder.
 */
struct config *config_read_client(const char *path);

/*
 * config_use() adds a user. config_drop() removes a user, and frees the configuration if this was
 * the last user.
 */
struct config *config_use(struct config *config);
void config_drop(struct config *config);

/* Returns true if the list is empty, or if one of its patterns matches. */
bool config_matches(const struct config_words *patterns, const char *text);

/* Returns the [record] of this name, or NULL. */
const struct config_record *config_record_of(const struct config *config, const char *name);

/*
 * The shortest and the longest time of CONFIG_EVERY. The agent adds the time to a time of
 * CLOCK_MONOTONIC, so the sum of both must fit into 64 bits.
 */
#define CONFIG_EVERY_NS	    INT64_C(1000000000)
#define CONFIG_EVERY_MAX_NS (INT64_C(36500) * 86400 * 1000000000)

/* Returns the share of the processor time that events of a section may cost; 0: no limit. */
double config_budget(const struct config *config, const struct config_record *record);

/* The place in the file that is being parsed. Only config.c and config_keys.c use it. */
struct config_place {
	struct config *config;
	struct config_record *record; /* the open section, or NULL */
	struct config_trigger *trigger;
	unsigned line;
	bool in_agent; /* the open section is [agent] */
	bool failed;   /* a fault was printed */
};

/* Prints FILE:LINE: and the text, and sets "failed". */
void config_fault(struct config_place *place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Processes a line "key = value" of the open section, and prints a fault in it. */
void config_key(struct config_place *place, const char *key, const char *value);

/*
 * Must be called at the beginning of a section. Most keys may be given only once in a section. This
 * call begins to count the keys of the new section.
 */
void config_keys_begin(void);

#endif
