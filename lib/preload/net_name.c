/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/net_name.c - family net: names of hosts. The C library itself asks the name servers. The
 * shim does not see the sockets that the C library uses for that.
 */
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <string.h>

#include "preload/address.h"
#include "preload/call.h"

#define SERVERS_TEXT (MAXNS * SHIM_ADDRESS_TEXT)

/*
 * Writes the addresses of the name servers that the C library asks, with ", " between them, and
 * returns `to`. The C library keeps the addresses for each thread. The text is empty if the thread
 * has not yet used the resolver, or if the look-up did not fail with EAI_AGAIN.
 */
static const char *name_servers(int result, char to[SERVERS_TEXT])
{
	const struct __res_state *state = __res_state();
	size_t len = 0;

	*to = '\0';
	if (result != EAI_AGAIN || !state || !(state->options & RES_INIT))
		return to;
	for (int i = 0; i < state->nscount && i < MAXNS; i++) {
		const struct sockaddr_in *ipv4 = &state->nsaddr_list[i];
		const struct sockaddr_in6 *ipv6 = state->_u._ext.nsaddrs[i];
		char text[SHIM_ADDRESS_TEXT];

		/* The entry of a server with an address of IPv6 has the family 0. */
		if (ipv4->sin_family)
			shim_address(text, (const struct sockaddr *)ipv4, sizeof(*ipv4));
		else if (ipv6)
			shim_address(text, (const struct sockaddr *)ipv6, sizeof(*ipv6));
		else
			continue;
		if (len) {
			memcpy(to + len, ", ", 2);
			len += 2;
		}
		memcpy(to + len, text, strlen(text) + 1);
		len += strlen(text);
	}
	return to;
}

/*
 * The field `error` is errno if the result is EAI_SYSTEM, and else 0. Both names may be NULL. If
 * the result is not 0, the C library may not have read the names, because it examines the flags
 * first. So the result, and not the field `error`, shows whether the names are readable.
 */
SHIM_TRACED(int, getaddrinfo, NET_LOOKUP, shim_no_number,
	    (const char *node, const char *service, const struct addrinfo *hints,
	     struct addrinfo **found),
	    (node, service, hints, found), result == EAI_SYSTEM, (result), (),
	    (SHIM_IN_IF(node, !result), SHIM_IN_IF(service, !result),
	     SHIM_OUT(name_servers(result, (char[SERVERS_TEXT]){ "" }))))

/*
 * The older functions have an error code of their own, which is in h_errno or in memory of the
 * program. If they found the host, they have read its name.
 */
#define HOST(name, params, args) \
	SHIM_TRACED(struct hostent *, name, NET_HOST, shim_no_pointer, params, args, false, \
		    (result && result != (struct hostent *)-1 ? 0 : h_errno), (), \
		    (SHIM_IN_IF(node, result)))
HOST(gethostbyname, (const char *node), (node))
HOST(gethostbyname2, (const char *node, int family), (node, family))

/*
 * The result is an error number. It may be 0 although the host was not found. After a failure
 * *found is NULL, and *code is set. Before the call both are undefined, so they are read only after
 * the call.
 */
#define HOST_R(name, params, args) \
	SHIM_ERROR(name, NET_HOST, params, args, \
		   (result == 0 && *found ? 0 : result == -1 ? -1 : *code), (), \
		   (SHIM_IN_IF(node, !result)))
/*
 * ERANGE means that the memory is too small. The program then usually tries again with more memory.
 */
HOST_R(gethostbyname_r,
       (const char *node, struct hostent *to, char *room, size_t bytes, struct hostent **found,
	int *code),
       (node, to, room, bytes, found, code))
HOST_R(gethostbyname2_r,
       (const char *node, int family, struct hostent *to, char *room, size_t bytes,
	struct hostent **found, int *code),
       (node, family, to, room, bytes, found, code))

/* Both texts are results, in memory of the program. The program may ask for one of them only. */
SHIM_TRACED(int, getnameinfo, NET_NAME, shim_no_number,
	    (const struct sockaddr *address, socklen_t bytes, char *node, socklen_t node_bytes,
	     char *service, socklen_t service_bytes, int flags),
	    (address, bytes, node, node_bytes, service, service_bytes, flags),
	    result == EAI_SYSTEM, (result), (),
	    (SHIM_OUT(result || !node_bytes ? NULL : node),
	     SHIM_OUT(result || !service_bytes ? NULL : service)))
