/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * collector.h - sends requests of OTLP over HTTP (opentelemetry.io/docs/specs/otlp) to a collector:
 * its address, its headers, and its answers. One thread uses a collector at a time.
 */
#ifndef POSIXTRACE_SHIP_COLLECTOR_H
#define POSIXTRACE_SHIP_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "convert/otlp/otlp.h"
#include "ship/retry.h"

struct collector {
	/* a copy of the URL; the members from host to path point into it */
	char *text;
	const char *host, *port;       /* "port" is NULL for the default of the scheme */
	char *user, *password, *path;
	bool is_secure;
	char *url[OTLP_SIGNALS];       /* without user and password */
	char **header;                 /* "Name: value" */
	size_t headers;
	unsigned timeout_s;
	bool is_gzip;                  /* the bodies of requests are compressed */
	struct bytes body;             /* the compressed body */
	void *handle;                  /* the handle of http.h; NULL: not opened */
	struct bytes answer;
	struct retry retry;
};

/* Returns true if the text begins with otlp://, otlps://, http:// or https://. */
bool collector_is(const char *text);
/*
 * Parses SCHEME://[USER[:PASSWORD]@]HOST[:PORT][/PATH]. Requests go to PATH/v1/traces and
 * PATH/v1/logs. Returns false after it printed an error. The caller must call collector_free() in
 * both cases.
 */
bool collector_parse(struct collector *collector, const char *option, const char *text);
/* Adds a header, "Name: value". Returns false after it printed an error. */
bool collector_header(struct collector *collector, const char *option, const char *text);
/*
 * Adds the headers of the environment variable OTEL_EXPORTER_OTLP_HEADERS, which has the form
 * name=value,name=value with %XX for other bytes. Returns false after it printed an error.
 */
bool collector_environment(struct collector *collector);
/* Loads libcurl. Returns false after it printed an error. */
bool collector_open(struct collector *collector);
void collector_free(struct collector *collector);

/*
 * Returns a number that identifies the collector. The number does not depend on user, password and
 * headers.
 */
uint64_t collector_number(const struct collector *collector);

/*
 * Sends a request until the collector answers that it has accepted the request. *rejected becomes
 * the number of records that the collector has rejected in the accepted request, or 0 if the answer
 * is incomplete and the number is unknown. If the request must not be repeated, prints the reason
 * and returns false.
 */
bool collector_send(struct collector *collector, enum otlp_signal signal,
		    const struct proto *request, uint64_t records, uint64_t *rejected);

#endif
