/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/address.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "preload/text.h"

socklen_t shim_address_room(const struct sockaddr *address, const socklen_t *bytes)
{
	return address && bytes && shim_is_there(bytes) ? *bytes : 0;
}

static char *put_text(char *to, const char *text)
{
	size_t len = strlen(text);

	memcpy(to, text, len);
	return to + len;
}

static char *put_number(char *to, unsigned value, unsigned base)
{
	char digits[16], *p = digits;

	do
		*p++ = "0123456789abcdef"[value % base];
	while (value /= base);
	while (p > digits)
		*to++ = *--p;
	return to;
}

static char *put_ipv4(char *to, const struct sockaddr_in *address)
{
	unsigned char part[4];

	memcpy(part, &address->sin_addr, sizeof part);
	for (int i = 0; i < 4; i++) {
		to = put_number(to, part[i], 10);
		*to++ = i < 3 ? '.' : ':';
	}
	return put_number(to, ntohs(address->sin_port), 10);
}

static char *put_ipv6(char *to, const struct sockaddr_in6 *address)
{
	const unsigned char *part = address->sin6_addr.s6_addr;

	*to++ = '[';
	for (int i = 0; i < 16; i += 2) {
		to = put_number(to, (unsigned)part[i] << 8 | part[i + 1], 16);
		*to++ = i < 14 ? ':' : ']';
	}
	*to++ = ':';
	return put_number(to, ntohs(address->sin6_port), 10);
}

/* A path may lack its NUL; an abstract name begins with one. */
static char *put_unix(char *to, const struct sockaddr_un *address, size_t bytes)
{
	size_t len = bytes - offsetof(struct sockaddr_un, sun_path);

	to = put_text(to, "unix:");
	if (len > sizeof address->sun_path)
		len = sizeof address->sun_path;
	for (size_t i = 0; i < len; i++) {
		if (!address->sun_path[i] && address->sun_path[0])
			break;
		*to++ = address->sun_path[i] ? address->sun_path[i] : '@';
	}
	return to;
}

size_t shim_address(char *to, const struct sockaddr *address, socklen_t bytes)
{
	union {
		struct sockaddr any;
		struct sockaddr_in ipv4;
		struct sockaddr_in6 ipv6;
		struct sockaddr_un local;
	} copy = { .any = { 0 } };
	char *end = to;

	if (address && bytes >= sizeof copy.any.sa_family) {
		memcpy(&copy, address, bytes < sizeof copy ? bytes : sizeof copy);
		if (copy.any.sa_family == AF_INET && bytes >= sizeof copy.ipv4) {
			end = put_ipv4(to, &copy.ipv4);
		} else if (copy.any.sa_family == AF_INET6 && bytes >= sizeof copy.ipv6) {
			end = put_ipv6(to, &copy.ipv6);
		} else if (copy.any.sa_family == AF_UNIX) {
			end = put_unix(to, &copy.local, bytes < sizeof copy ? bytes : sizeof copy);
		} else {
			end = put_text(to, "family ");
			end = put_number(end, copy.any.sa_family, 10);
		}
	}
	*end = '\0';
	return (size_t)(end - to) + 1;
}
