/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* image.h - which dynamic linker a program has, as the shim sees it. */
#ifndef POSIXTRACE_LIVE_IMAGE_H
#define POSIXTRACE_LIVE_IMAGE_H

#include "../../../lib/preload/image.h"

#endif
