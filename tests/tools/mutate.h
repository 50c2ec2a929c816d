/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mutate.h - the interface to the decoder that reads damaged copies. */
#ifndef TESTS_TOOLS_MUTATE_H
#define TESTS_TOOLS_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Decodes all bytes. Ends the program if the decoder returns something impossible. */
void mutate_decode(const unsigned char *bytes, size_t size);

/* A sum of the data that was read. The compiler must not remove reads that change this sum. */
extern uint64_t mutate_sum;

#endif
