/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * otlp_json.h - writes a request in the JSON encoding of OTLP (opentelemetry.io/docs/specs/otlp,
 * "JSON Protobuf Encoding"). The JSON is made from the bytes of the message, so the two encodings
 * have the same contents.
 */
#ifndef POSIXTRACE_CONVERT_OTLP_OTLP_JSON_H
#define POSIXTRACE_CONVERT_OTLP_OTLP_JSON_H

#include "base/out.h"
#include "convert/otlp/otlp.h"

/* Writes the request as one line. otlp_write() must have made the message. */
void otlp_json(struct out *out, enum otlp_signal signal, const struct proto *request);

#endif
