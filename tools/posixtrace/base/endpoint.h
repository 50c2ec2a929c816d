/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * endpoint.h - connections by their names: tcp:HOST:PORT is connected to; listen:[HOST:]PORT waits
 * for one connection, at this machine's own address unless HOST says where, * for everywhere. A
 * host with colons stands in brackets. Nothing is encrypted and nobody is asked who he is: that is
 * ssh's part.
 */
#ifndef POSIXTRACE_BASE_ENDPOINT_H
#define POSIXTRACE_BASE_ENDPOINT_H

#include <stdbool.h>

/* Whether the name is that of a connection; else it is a file's. */
bool endpoint_is(const char *name);

/* TOOL_OK, or it has said why not. Says where it waits. */
int endpoint_open(const char *name, int *fd);

#endif
