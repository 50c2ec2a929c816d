/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * image.c - the shim's own code, compiled into the tool. The command record must classify a program
 * exactly as the shim does before execve().
 */
#include "live/image.h"

#include "../../../lib/preload/image.c"
