/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * address.c - compiles the preload library's code for socket addresses into the tool, so that both
 * write the same texts.
 */
#include "../../../lib/preload/address.h"

#include "../../../lib/preload/address.c"
