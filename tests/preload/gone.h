/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload/gone.h - a page that the C library's functions of gone.c unmap before they return. */
#ifndef PRELOAD_GONE_H
#define PRELOAD_GONE_H

#include <stdbool.h>

#define GONE_PAGE 4096

/* The next call of a function of gone.c unmaps the page. */
void gone_arm(void *page);

/* Returns whether the page that was armed last is unmapped. */
bool gone_is_unmapped(void);

#endif
