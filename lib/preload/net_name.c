/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/net_name.c - family net: names of hosts. The C library itself asks the name servers, so
 * that its sockets are not seen.
 */
#include <netdb.h>

#include "preload/call.h"

/*
 * error is errno only if the result says so. Both names may be NULL. The C library reads them
 * itself, so that they are readable after the call.
 */
SHIM_TRACED(int, getaddrinfo, NET_LOOKUP, shim_no_number,
	    (const char *node, const char *service, const struct addrinfo *hints,
	     struct addrinfo **found),
	    (node, service, hints, found), result == EAI_SYSTEM, (result), (),
	    (SHIM_IN(node), SHIM_IN(service)))

/* The texts are results, in memory of the program. It may ask for one of them only. */
SHIM_TRACED(int, getnameinfo, NET_NAME, shim_no_number,
	    (const struct sockaddr *address, socklen_t bytes, char *node, socklen_t node_bytes,
	     char *service, socklen_t service_bytes, int flags),
	    (address, bytes, node, node_bytes, service, service_bytes, flags),
	    result == EAI_SYSTEM, (result), (),
	    (SHIM_OUT(result || !node_bytes ? NULL : node),
	     SHIM_OUT(result || !service_bytes ? NULL : service)))
