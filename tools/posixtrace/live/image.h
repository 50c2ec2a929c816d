/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* image.h - classifies a program by its dynamic linker, as the shim does. */
#ifndef POSIXTRACE_LIVE_IMAGE_H
#define POSIXTRACE_LIVE_IMAGE_H

#include "../../../lib/preload/image.h"

#endif
