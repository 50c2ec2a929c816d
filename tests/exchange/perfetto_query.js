// SPDX-License-Identifier: LGPL-2.1-or-later
// perfetto_query.js - queries a trace with Perfetto's trace processor in Node.
//
//	node perfetto_query.js FOLDER TRACE SQL...
//
// FOLDER has engine_bundle.js and trace_processor.wasm, as in the packages of Perfetto's UI. Prints
// a JSON array of rows for each query, on one line.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [folder, trace, ...queries] = process.argv.slice(2);

// --- the interface of a web worker that the bundle expects

let toEngine = null;
let received = Buffer.alloc(0);
const port = {
	set onmessage(handler) { toEngine = handler; },
	postMessage(data) { received = Buffer.concat([received, Buffer.from(data)]); },
};
const wasm = fs.readFileSync(path.join(folder, 'trace_processor.wasm'));
const quiet = { log() {}, warn() {}, error: console.error, assert() {} };
const scope = {
	console: quiet, setTimeout, clearTimeout, performance, TextDecoder, TextEncoder,
	URL, importScripts() {}, navigator: { userAgent: 'node' },
	location: { href: 'file:///engine_bundle.js', protocol: 'file:' },
	XMLHttpRequest: class {
		open() {}
		send() { this.response = new Bytes(wasm); }
	},
	ErrorEvent: class {}, PromiseRejectionEvent: class {}, crypto: globalThis.crypto,
	addEventListener() {}, removeEventListener() {},
};
scope.self = scope;
scope.globalThis = scope;
vm.createContext(scope);
const Bytes = vm.runInContext('Uint8Array', scope);

// --- protocol buffers: the part that the remote procedure calls need

function varint(value) {
	const bytes = [];
	for (value = BigInt(value); value >= 128n; value >>= 7n)
		bytes.push(Number(value & 127n) | 128);
	bytes.push(Number(value));
	return Buffer.from(bytes);
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, data) =>
	Buffer.concat([varint((field << 3) | 2), varint(data.length), Buffer.from(data)]);

function readVarint(buffer, at) {
	let value = 0n, shift = 0n;
	for (;;) {
		const byte = buffer[at.i++];
		value |= BigInt(byte & 127) << shift;
		shift += 7n;
		if (!(byte & 128))
			return BigInt.asUintN(64, value);
	}
}
function* fields(buffer) {
	for (const at = { i: 0 }; at.i < buffer.length;) {
		const tag = Number(readVarint(buffer, at));
		if ((tag & 7) === 0) {
			yield [tag >> 3, readVarint(buffer, at)];
		} else {
			const len = (tag & 7) === 2 ? Number(readVarint(buffer, at)) : (tag & 7) === 1 ? 8 : 4;
			yield [tag >> 3, buffer.subarray(at.i, at.i + len)];
			at.i += len;
		}
	}
}

// --- the calls

const APPEND = 1, FINALIZE = 2, QUERY = 3;
let sequence = 0;

function call(method, args) {
	const message = Buffer.concat([number(1, sequence++), number(2, method), args]);
	received = Buffer.alloc(0);
	toEngine({ data: new Bytes(bytes(1, message)) });
	const answers = [];
	for (const [field, rpc] of fields(received))
		if (field === 1)
			answers.push(new Map(fields(rpc)));
	return answers;
}

function rowsOf(answers) {
	const columns = [], cells = [];
	for (const answer of answers) {
		for (const [field, value] of fields(answer.get(203) || Buffer.alloc(0))) {
			if (field === 1)
				columns.push(value.toString());
			if (field === 2 && value.length)
				throw new Error(value.toString());
			if (field !== 3)
				continue;
			const kinds = [], numbers = [], doubles = [], blobs = [];
			let strings = [];
			for (const [f, v] of fields(value)) {
				if (f === 1)
					for (const at = { i: 0 }; at.i < v.length;)
						kinds.push(Number(readVarint(v, at)));
				if (f === 2)
					for (const at = { i: 0 }; at.i < v.length;)
						numbers.push(BigInt.asIntN(64, readVarint(v, at)));
				if (f === 3)
					for (let i = 0; i < v.length; i += 8)
						doubles.push(v.readDoubleLE(i));
				if (f === 4)
					blobs.push(v);
				if (f === 5)
					strings = v.toString().split('\0');
			}
			for (const kind of kinds)
				cells.push(kind === 2 ? numbers.shift().toString() :
					   kind === 3 ? doubles.shift() : kind === 4 ? strings.shift() :
					   kind === 5 ? blobs.shift().toString('hex') : null);
		}
	}
	const rows = [];
	while (cells.length)
		rows.push(cells.splice(0, columns.length));
	return rows;
}

async function main() {
	vm.runInContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'), scope);
	scope.onmessage({ data: { enginePort: port } });
	for (let i = 0; i < 200; i++) {
		await new Promise((done) => setTimeout(done, 20));
		try {
			call(QUERY, bytes(103, bytes(1, Buffer.from('select 1'))));
			break;
		} catch (error) {
			if (i === 199)
				throw error;
		}
	}
	const data = fs.readFileSync(trace);
	for (let i = 0; i < data.length; i += 1 << 20)
		call(APPEND, bytes(101, data.subarray(i, i + (1 << 20))));
	call(FINALIZE, Buffer.alloc(0));
	for (const sql of queries)
		console.log(JSON.stringify(rowsOf(call(QUERY, bytes(103, bytes(1, Buffer.from(sql)))))));
}

main().catch((error) => {
	console.error(String(error && error.stack || error));
	process.exit(1);
});
