// SPDX-License-Identifier: LGPL-2.1-or-later
// Tracing with libposixtrace. README has a first program.
'use strict';
const os = require('os');
const path = require('path');
const { threadId } = require('worker_threads');

const addon = { exports: {} };
process.dlopen(addon, process.env.POSIXTRACE_NODE || path.join(__dirname, 'posixtrace_node.so'),
               os.constants.dlopen.RTLD_NOW);
const native = addon.exports;

// Returns a function that records an event. Its arguments are the values of the fields: a number or
// BigInt for an integer, a string for str, and a Buffer for bytes and for an array. The first call
// shows wrong values, whether or not the process is traced then.
function event(name, schema = '') {
  const type = native.event(name, schema);
  let isKnown = false;
  return (...values) => {
    if (!isKnown || native.isActive()) {
      native.record(type, values);
      isKnown = true;
    }
  };
}

// Returns a kind of span, a function `run`. run(f) calls f as a span; run.begin() and run.end()
// record the two events. Spans of async functions would overlap in one thread: use asyncSpan().
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

// The last number of the spans of each name. A thread may load the module several times, so the map is
// a global. A worker thread has one of its own, so the upper part of its numbers is that of the thread.
const key = Symbol.for('posixtrace.numbers');
const numbers = globalThis[key] || (globalThis[key] = new Map());

function nextNumber(name) {
  const number = (numbers.get(name) ?? threadId * 2 ** 32) + 1;
  numbers.set(name, number);
  return number;
}

// Returns a kind of span, a function `run`. run(f) calls f as a span, which ends when f returns or
// when the promise that f returns is settled. Such spans may overlap: each has a number, the field id
// of both events. By this key, readers find the end of a span.
function asyncSpan(name, level = 0) {
  const more = level ? `;@level ${level}` : '';
  const begin = event(`${name}.begin`, `u64 id;@begin ${name};@key id${more}`);
  const end = event(`${name}.end`, `u64 id;@end ${name};@key id${more}`);
  return (f) => {
    const id = nextNumber(name);
    let isPending = false;
    begin(id);
    try {
      const result = f();
      isPending = typeof result?.then === 'function';
      return isPending ? Promise.resolve(result).finally(() => end(id)) : result;
    } finally {
      if (!isPending)
        end(id);
    }
  };
}

// The started streams. The garbage collector would shut down a stream that has no reference.
// Because of this set, a program that traces until it ends need not keep the object.
const started = new Set();

// Returns `path` if it is a string without a NUL, and throws otherwise. The functions of `native`
// also refuse other values, but with the error ENAMETOOLONG.
function pathOf(path) {
  if (typeof path !== 'string' || path.includes('\0'))
    throw new TypeError('the path of a log is a string without a NUL');
  return path;
}

// An active stream of this process. If `path` is not empty, the stream has a log in this file. A
// started stream ends by shutdown(), or with the process.
class Stream {
  #stream;
  constructor(path = '') { this.#stream = native.stream(pathOf(path)); }
  start() { native.control(this.#stream, 'start'); started.add(this); return this; }
  stop() { native.control(this.#stream, 'stop'); return this; }
  flush() { native.control(this.#stream, 'flush'); return this; }
  clear() { native.control(this.#stream, 'clear'); return this; }
  level(max) { native.level(this.#stream, max); return this; }
  shutdown() { native.control(this.#stream, 'shutdown'); started.delete(this); }
}

// A log. A loop over the log yields events with name, timeNs, pid, tid, fields, message and data.
// A message is cut to 4095 bytes.
class Log {
  #log;
  constructor(path) { this.#log = native.open(pathOf(path)); }
  *[Symbol.iterator]() {
    native.control(this.#log, 'rewind');
    for (let event; (event = native.next(this.#log));)
      yield event;
  }
  close() { native.control(this.#log, 'close'); }
}

module.exports = { event, span, asyncSpan, Stream, Log, isActive: native.isActive };
