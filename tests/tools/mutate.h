/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mutate.h - what damaged copies are given to. */
#ifndef TESTS_TOOLS_MUTATE_H
#define TESTS_TOOLS_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Decodes all of it, and ends the program if what the decoder says cannot be. */
void mutate_decode(const unsigned char *bytes, size_t size);

/* What was read, so that nothing is left out for not being used. */
extern uint64_t mutate_sum;

#endif
