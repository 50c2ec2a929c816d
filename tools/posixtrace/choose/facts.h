/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * facts.h - the names of the facts of an event. Each of them is a column of --fields and also an
 * operand of expressions, where it is written as event.NAME.
 *
 * FACTS(X) has X(name, suffix of the constants PICK_* and WHERE_*, width of the column in
 * characters).
 */
#ifndef POSIXTRACE_CHOOSE_FACTS_H
#define POSIXTRACE_CHOOSE_FACTS_H

#define FACTS(X) \
	X(time, TIME, 29) X(pid, PID, 7) X(tid, TID, 7) X(thread, THREAD, 14) \
	X(address, ADDRESS, 14) X(event, EVENT, 24) X(name, EVENT, 24) X(id, ID, 5) \
	X(level, LEVEL, 5) X(len, LEN, 6)

#endif
