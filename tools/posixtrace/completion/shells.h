/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shells.h - the scripts by which shells complete the command line of posixtrace.
 *
 * The scripts contain all commands and options as words, so a shell completes them without running
 * posixtrace. A shell runs posixtrace only for the event types of a log. The texts come only from
 * the tables of the commands. They are not hostile, but they must be quoted for the syntax of the
 * shell.
 */
#ifndef POSIXTRACE_COMPLETION_SHELLS_H
#define POSIXTRACE_COMPLETION_SHELLS_H

#include "base/out.h"
#include "base/tool.h"

/*
 * Each of these functions writes the script for one shell. It returns false if memory is lacking.
 */
bool bash_script(struct out *out);
bool zsh_script(struct out *out);
bool fish_script(struct out *out);

/*
 * Writes the words that an argument can be, with a blank between two words. These are the words of
 * choices and, for OPTION_SOURCE and OPTION_SINK, the names of formats.
 */
void shells_words(struct out *out, enum option_kind kind, const char *choices);

/*
 * shells_events() prints the event types of a log, or of the streams of the process with this
 * number, one on each line. shells_processes() prints a line for each process that the user may
 * trace: its number, a tab and its program. Both functions return a status of the tool.
 */
int shells_events(const char *argument);
int shells_processes(void);

/* Returns the length of the first part of a help text, up to a semicolon, colon or line end. */
size_t shells_brief(const char *help);

/*
 * Writes "text", and writes "before" in front of each character that is in "special". "before" is
 * what the shell needs at this place, such as one or two backslashes.
 */
void shells_quoted(struct out *out, const char *text, size_t len, const char *special,
		   const char *before);

#endif
