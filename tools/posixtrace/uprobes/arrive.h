/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arrive.h - makes the BPF programs that record that a thread arrives at a place. Only attach.c
 * uses this file.
 */
#ifndef POSIXTRACE_UPROBES_ARRIVE_H
#define POSIXTRACE_UPROBES_ARRIVE_H

#include "syscalls/program.h"
#include "uprobes/uprobes.h"

/* The upper half of the cookie of a place in a file of Go. The lower half is the place's index. */
#define ARRIVE_GO 1

/*
 * arrive_plain() makes the program for places without values, and arrive_valued() the program for
 * places with values. "map" has the maps of struct syscalls, and "values" is the map with elements
 * of struct uprobes_values.
 */
void arrive_plain(struct program *program, const int *map);
void arrive_valued(struct program *program, const int *map, int values);

#endif
