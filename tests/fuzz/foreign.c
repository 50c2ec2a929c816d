/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* foreign.c - traces of other tracers: any decoder that accepts the bytes reads them. */
#include "fuzz/fuzz.h"
#include "tools/mutate.h"

const struct fuzz_word fuzz_words[] = { { 0 } };

uint64_t mutate_sum;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	mutate_decode(data, size);
	return 0;
}
