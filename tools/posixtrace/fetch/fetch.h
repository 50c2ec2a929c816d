/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fetch.h - the functions for the option --at (choose/at.h), which ask a fleet's database. main.c
 * refers to them.
 */
#ifndef POSIXTRACE_FETCH_FETCH_H
#define POSIXTRACE_FETCH_FETCH_H

#include "choose/at.h"

extern const struct at_fleet fetch_fleet;

#endif
