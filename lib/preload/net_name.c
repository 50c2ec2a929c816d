/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/net_name.c - family net: names of hosts. The C library itself asks the name servers, so
 * that its sockets are not seen.
 */
#include <netdb.h>

#include "preload/call.h"

/*
 * error is errno only if the result says so. Both names may be NULL. After a result that is not 0
 * the C library may not have read them: it examines the flags first. The field error is then 0 but
 * for EAI_SYSTEM, so that it does not show whether they are readable.
 */
SHIM_TRACED(int, getaddrinfo, NET_LOOKUP, shim_no_number,
	    (const char *node, const char *service, const struct addrinfo *hints,
	     struct addrinfo **found),
	    (node, service, hints, found), result == EAI_SYSTEM, (result), (),
	    (SHIM_IN_IF(node, !result), SHIM_IN_IF(service, !result)))

/* The texts are results, in memory of the program. It may ask for one of them only. */
SHIM_TRACED(int, getnameinfo, NET_NAME, shim_no_number,
	    (const struct sockaddr *address, socklen_t bytes, char *node, socklen_t node_bytes,
	     char *service, socklen_t service_bytes, int flags),
	    (address, bytes, node, node_bytes, service, service_bytes, flags),
	    result == EAI_SYSTEM, (result), (),
	    (SHIM_OUT(result || !node_bytes ? NULL : node),
	     SHIM_OUT(result || !service_bytes ? NULL : service)))
