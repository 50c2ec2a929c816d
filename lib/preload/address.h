/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/address.h - the address of a socket as text, without the C library's formatting.
 *
 *	127.0.0.1:80    [fe80::1]:80    unix:/path    unix:@name    family 16
 *
 * IPv6 addresses are written in full but for leading zeros of a group.
 * Signals   async-signal-safe.
 */
#ifndef PTX_PRELOAD_ADDRESS_H
#define PTX_PRELOAD_ADDRESS_H

#include <stddef.h>
#include <sys/socket.h>

#define SHIM_ADDRESS_TEXT 128

/*
 * How much room a call is given for the address it is to tell; 0 if none is wanted, or if the
 * length is not there to be read, as the call itself will say.
 */
socklen_t shim_address_room(const struct sockaddr *address, const socklen_t *bytes);

/* Writes it with its NUL and returns how many bytes that is; at most SHIM_ADDRESS_TEXT. */
size_t shim_address(char *to, const struct sockaddr *address, socklen_t bytes);

#endif
