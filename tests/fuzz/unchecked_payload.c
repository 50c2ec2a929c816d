/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs need no right checksums, independent of the options of the build. */
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION 1
#endif
#include "../../lib/log/read_payload.c"
