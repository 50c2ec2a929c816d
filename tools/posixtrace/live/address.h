/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* address.h - the addresses of sockets as text, in the form of the preload library. */
#ifndef POSIXTRACE_LIVE_ADDRESS_H
#define POSIXTRACE_LIVE_ADDRESS_H

#include "../../../lib/preload/address.h"

#define ADDRESS_BYTES SHIM_ADDRESS_TEXT

/*
 * Write the address of a socket, or of the socket to which it is connected: "127.0.0.1:80",
 * "[0:0:0:0:0:0:0:1]:80", "unix:PATH", "netlink:PORT" or "vsock:MACHINE:PORT". The text is empty if
 * there is no such address. Any thread may call them.
 */
void address_own(int fd, char text[ADDRESS_BYTES]);
void address_peer(int fd, char text[ADDRESS_BYTES]);

#endif
