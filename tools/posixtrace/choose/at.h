/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * at.h - the options --at and --host, by which a command reads logs of a fleet's database as if
 * they were files.
 *
 * at_logs() asks the database for its logs, chooses the logs that the command needs, and returns a
 * name for each of them. When logfile_open() gets such a name, it fetches the events that the
 * options choose into a temporary log. The command then reads this log as it would read a file.
 *
 * The files of this folder may not include files of the folder fetch, which asks the database.
 * Therefore main.c sets the pointer at_fleet. One thread uses these functions.
 */
#ifndef POSIXTRACE_CHOOSE_AT_H
#define POSIXTRACE_CHOOSE_AT_H

#include "base/tool.h"
#include "choose/wanted.h"

enum { AT_URL = 1170, AT_HOST }; /* values of the options */

extern const struct option_row at_rows[];

struct at {
	const char *url;             /* NULL: --at was not given, and the logs are files */
	struct choose_names host;    /* the patterns of --host; empty: all hosts */
	/*
	 * The event types and the times that the command uses. The caller has called wanted_ready()
	 * for this struct, and not yet wanted_begin().
	 */
	const struct wanted *wanted;
	/* The command pairs events to spans, so it also needs events that the options exclude. */
	bool pairs;
	/* The command shows the functions of events, not only the functions of call stacks. */
	bool shows_functions;
	/*
	 * Without --at, the command reads all files that the operands name as one log. They are,
	 * for example, all logs of a recording with --rotate-time.
	 */
	bool joins;
	/* Times such as +1s refer to the first event of all logs together, not of each log. */
	bool is_merged;
	char **path;                 /* results: the names of the logs, and their number */
	size_t paths;
	char *joined;                /* the name of the log that at_join has made, or NULL */
	int status;                  /* TOOL_DAMAGED: a log that was joined is damaged */
};

/*
 * Returns true if the option is one of at_rows. In this case the function either stores the value
 * and sets *good to true, or prints an error and sets *good to false.
 */
bool at_option(struct at *at, int option, const char *value, bool *good);

/*
 * Stores in path and paths the logs that a command reads. Without --at, they are the operands. But
 * if "joins" is set and there are several operands, there is one log with the events of all
 * operands. With --at, each operand chooses logs of the database by their names. Without operands,
 * --at chooses all logs with events in the time range. If there are fewer than 'least' or more than
 * 'most' logs, the function prints an error, which names the command. Returns TOOL_OK, or the exit
 * status after an error. If this status is TOOL_USAGE, the function has called tool_usage().
 */
int at_logs(struct at *at, const struct tool_command *command, char **operand, size_t operands,
	    size_t least, size_t most);

/* Frees the memory, also that of the names of the logs. */
void at_fini(struct at *at);

/* The functions that ask the database. */
struct at_fleet {
	/* Finds the logs for at_logs(), and makes logfile_open() fetch them. */
	int (*find)(struct at *at, char **operand, size_t operands);
	void (*end)(void);
};

/*
 * Writes the events of several files in order of time into a temporary log, and stores its
 * descriptor. Returns a status of the tool; the log is valid with TOOL_OK and TOOL_DAMAGED. main.c
 * sets this pointer for the same reason as at_fleet.
 */
extern int (*at_join)(char **path, size_t paths, int *fd);

/* NULL: the tool was built without libcurl. */
extern const struct at_fleet *at_fleet;

#endif
