/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report.h - the options of a report.
 */
#ifndef POSIXTRACE_REPORT_REPORT_H
#define POSIXTRACE_REPORT_REPORT_H

#include <getopt.h>

#include "choose/wanted.h"
#include "report/template/columns.h"
#include "report/template/select.h"
#include "show/merge.h"
#include "show/pick.h"

struct report {
	const char **template;
	size_t templates;
	bool check, list;
	const char *output;
	bool force;
	struct select select;
	struct wanted wanted;
	struct pick pick;
	struct merge merge;
	struct columns columns;
	bool columns_given;
	enum when_form when;
	bool header;
};

enum { REPORT_HELP = 256 }; /* value of --help */

extern const struct option_row report_options[];

/*
 * Processes an option of the command report. Returns false after a message if there is no such
 * option or its value is wrong.
 */
bool report_option(struct report *report, int option, const char *value);

/*
 * Prints the events of several logs in one order, as a table. Returns the exit status of the
 * command.
 */
int report_merge(struct report *report, char **path, size_t paths);

#endif
