/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/address.h - the address of a socket as text, without the C library's formatting.
 *
 * 	127.0.0.1:80    [fe80::1]:80    unix:/path    unix:@name    family 16
 *
 * IPv6 addresses are written in full except for leading zeros of a group.
 *
 * Threads   all functions may run concurrently.
 * Signals   async-signal-safe.
 */
#ifndef PTX_PRELOAD_ADDRESS_H
#define PTX_PRELOAD_ADDRESS_H

#include <stddef.h>
#include <sys/socket.h>

#define SHIM_ADDRESS_TEXT 128

/*
 * Returns the number of bytes that the program has provided for the address that a call returns; 0
 * if the program did not request an address, or if the length cannot be read. In the second case
 * the call itself fails.
 */
socklen_t shim_address_room(const struct sockaddr *address, const socklen_t *bytes);

/*
 * Writes the text with its NUL and returns the number of bytes with the NUL, at most
 * SHIM_ADDRESS_TEXT. If `address` is NULL, the text is empty.
 */
size_t shim_address(char *to, const struct sockaddr *address, socklen_t bytes);

#endif
