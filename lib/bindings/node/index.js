// SPDX-License-Identifier: LGPL-2.1-or-later
// Tracing with libposixtrace: README has a first program.
'use strict';
const os = require('os');
const path = require('path');

const addon = { exports: {} };
process.dlopen(addon, process.env.POSIXTRACE_NODE || path.join(__dirname, 'posixtrace_node.so'),
               os.constants.dlopen.RTLD_NOW);
const native = addon.exports;

// Returns a function that records an event with a value for each field of the schema. Integers are
// numbers or BigInts, str is a string, bytes and arrays are Buffers.
function event(name, schema = '') {
  const type = native.event(name, schema);
  return (...values) => {
    if (native.isActive())
      native.record(type, values);
  };
}

// Returns a kind of span. span(f) calls f as a span; begin() and end() record the two events. Spans
// of async functions would overlap in one thread. Such spans need a key and two events, see README.
function span(name, level = 0) {
  const more = level ? `;@level ${level}` : '';
  const begin = event(`${name}.begin`, `@begin ${name}${more}`);
  const end = event(`${name}.end`, `@end ${name}${more}`);
  const run = (f) => {
    begin();
    try {
      return f();
    } finally {
      end();
    }
  };
  return Object.assign(run, { begin, end });
}

// An active stream of this process, with a log if there is a path.
class Stream {
  #stream;
  constructor(path = '') { this.#stream = native.stream(path); }
  start() { native.control(this.#stream, 'start'); return this; }
  stop() { native.control(this.#stream, 'stop'); return this; }
  flush() { native.control(this.#stream, 'flush'); return this; }
  clear() { native.control(this.#stream, 'clear'); return this; }
  level(max) { native.level(this.#stream, max); return this; }
  shutdown() { native.control(this.#stream, 'shutdown'); }
}

// A log. A loop over it yields its events, with name, timeNs, pid, tid, fields, message and data.
class Log {
  #log;
  constructor(path) { this.#log = native.open(path); }
  *[Symbol.iterator]() {
    native.control(this.#log, 'rewind');
    for (let event; (event = native.next(this.#log));)
      yield event;
  }
  close() { native.control(this.#log, 'close'); }
}

module.exports = { event, span, Stream, Log, isActive: native.isActive };
