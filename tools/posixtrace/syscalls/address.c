/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* address.c - compiles the shim's code for addresses into the tool, so that texts are the same. */
#include "../../../lib/preload/address.h"

#include "../../../lib/preload/address.c"
