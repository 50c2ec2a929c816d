/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* address.c - the shim's own code, compiled into the tool: addresses have the same texts. */
#include "../../../lib/preload/address.h"

#include "../../../lib/preload/address.c"
