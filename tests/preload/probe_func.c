/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled with -finstrument-functions, unlike the others. */
#include "preload/probe.h"

static __attribute__((noinline)) int inner(int n)
{
	return n ? inner(n - 1) + 1 : 0;
}

static int func(int argc, char **argv)
{
	(void)argc, (void)argv;
	return inner(9) != 9;
}

const struct probe probes_func[] = { { "func", func }, { 0 } };
