/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* image.c - the shim's own code, which looks at a program in the same way before it is executed. */
#include "live/image.h"

#include "../../../lib/preload/image.c"
