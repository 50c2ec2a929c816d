// SPDX-License-Identifier: LGPL-2.1-or-later
// same.js - records the events of same.c. Usage: same LOG
'use strict';
const { event, span, Stream } = require('posixtrace');

const accept = event('net.accept', 's32 fd;str peer;@level 4;@counter fd;');
const numbers = event('numbers', 'u8 a;u16 b;u32 c;s64 d;u64 e;str text;f64 f;f32 g;bool h;');
const memory = event('memory', 'bytes raw');
const took = event('took', 'ns time');
const work = span('work'), outer = span('outer'), inner = span('inner');

const stream = new Stream(process.argv[2]).start();
accept(3, 'localhost');
accept(-1, '');
work(() => numbers(255, 65535, 4294967295, -(2n ** 63n), 2n ** 64n - 1n, 'grün', -2.5, 0.5, true));
memory(Buffer.from([0, 255, 16]));
took(1500);
for (let i = 0; i < 3; i++)
  accept(i, 'turn');
try {
  outer(() => inner(() => { throw new Error('spans end by an exception'); }));
} catch {
}
stream.shutdown();
