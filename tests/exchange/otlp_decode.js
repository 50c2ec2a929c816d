// SPDX-License-Identifier: LGPL-2.1-or-later
// otlp_decode.js - reads requests of OTLP by the code that OpenTelemetry's JavaScript generated from
// its protobuf definitions.
//
//	node otlp_decode.js FOLDER DIR
//
// FOLDER is that of the npm package @opentelemetry/otlp-transformer, DIR has traces.binpb and
// logs.binpb. Prints each as the JSON of OTLP, on one line.
'use strict';
const fs = require('fs');
const path = require('path');
const [folder, dir] = process.argv.slice(2);
const { collector } = require(path.join(folder, 'build/src/generated/root.js')).opentelemetry.proto;
const identifiers = ['traceId', 'spanId', 'parentSpanId'];

// OTLP has hexadecimal digits for identifiers; other bytes are base64.
function encode(value) {
	for (const key of Object.keys(value)) {
		const item = value[key];

		if (Buffer.isBuffer(item) || item instanceof Uint8Array)
			value[key] = Buffer.from(item).toString(identifiers.includes(key) ? 'hex' : 'base64');
		else if (item && typeof item === 'object')
			encode(item);
	}
	return value;
}

for (const [file, type] of [['traces', collector.trace.v1.ExportTraceServiceRequest],
	['logs', collector.logs.v1.ExportLogsServiceRequest]]) {
	const request = type.decode(fs.readFileSync(path.join(dir, file + '.binpb')));

	console.log(JSON.stringify(encode(type.toObject(request, {
		longs: String, enums: Number, bytes: Buffer, json: true
	}))));
}
