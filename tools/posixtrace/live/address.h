/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* address.h - the addresses of sockets as text, in the form of the preload library. */
#ifndef POSIXTRACE_LIVE_ADDRESS_H
#define POSIXTRACE_LIVE_ADDRESS_H

#include <stddef.h>

#define ADDRESS_BYTES 136 /* enough for the path of a socket of AF_UNIX */

/*
 * Write the address of a socket, or of the socket to which it is connected: "127.0.0.1:80",
 * "[0:0:0:0:0:0:0:1]:80", "unix:PATH", "netlink:PORT" or "vsock:MACHINE:PORT". The text is empty if
 * there is no such address. Any thread may call them.
 */
void address_own(int fd, char *text, size_t size);
void address_peer(int fd, char *text, size_t size);

#endif
