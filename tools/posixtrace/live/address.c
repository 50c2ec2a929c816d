/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "live/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Writes the name of a local socket. Each NUL of an abstract name becomes an @. */
static void local_text(const struct sockaddr_un *local, socklen_t bytes, char *text, size_t size)
{
	const socklen_t begin = offsetof(struct sockaddr_un, sun_path);
	char name[sizeof(local->sun_path) + 1];
	size_t len = bytes > begin ? bytes - begin : 0;

	*text = '\0';
	if (!len)
		return;
	if (len > sizeof(local->sun_path))
		len = sizeof(local->sun_path);
	for (size_t i = 0; i < len; i++) {
		if (!local->sun_path[i] && local->sun_path[0])
			len = i;
		else
			name[i] = local->sun_path[i] ? local->sun_path[i] : '@';
	}
	name[len] = '\0';
	snprintf(text, size, "unix:%s", name);
}

static void address_text(const struct sockaddr_storage *address, socklen_t bytes, char *text,
			 size_t size)
{
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_in6 *six = (const void *)address;
	char host[INET6_ADDRSTRLEN] = "";

	*text = '\0';
	if (address->ss_family == AF_INET &&
	    inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host)))
		snprintf(text, size, "%s:%u", host, ntohs(four->sin_port));
	else if (address->ss_family == AF_INET6 &&
		 inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host)))
		snprintf(text, size, "[%s]:%u", host, ntohs(six->sin6_port));
	else if (address->ss_family == AF_UNIX)
		local_text((const void *)address, bytes, text, size);
}

void address_own(int fd, char *text, size_t size)
{
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	socklen_t bytes = sizeof(address);

	*text = '\0';
	if (!getsockname(fd, (struct sockaddr *)&address, &bytes))
		address_text(&address, bytes, text, size);
}

void address_peer(int fd, char *text, size_t size)
{
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	socklen_t bytes = sizeof(address);

	*text = '\0';
	if (!getpeername(fd, (struct sockaddr *)&address, &bytes))
		address_text(&address, bytes, text, size);
}
