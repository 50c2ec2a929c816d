// SPDX-License-Identifier: LGPL-2.1-or-later
// The types of the module posixtrace, for TypeScript and for editors.
/// <reference types="node" />

/**
 * A value for a field: a number or bigint for an integer, a string for str, and a Uint8Array such as
 * a Buffer for bytes and for an array. null and undefined are an empty string.
 */
export type Value = number | bigint | boolean | string | Uint8Array | null | undefined;

/** The value of a field in a log. An integer beyond 2^53 is a bigint. An array is an Array. */
export type FieldValue = number | bigint | boolean | string | Buffer | FieldValue[];

/** Returns a function that records an event with a value for each field of the schema. */
export function event(name: string, schema?: string): (...values: Value[]) => void;

/** Calls its argument as a span. begin() and end() record the two events. */
export interface Span {
  <T>(f: () => T): T;
  begin(): void;
  end(): void;
}

/** Returns a kind of span for functions that do not await anything. */
export function span(name: string, level?: number): Span;

/** Calls its argument as a span, which ends when the promise of the argument is settled. */
export interface AsyncSpan {
  <T>(f: () => PromiseLike<T>): Promise<T>;
  <T>(f: () => T): T;
}

/** Returns a kind of span whose spans may overlap. */
export function asyncSpan(name: string, level?: number): AsyncSpan;

/** Returns whether a stream traces this process. */
export function isActive(): boolean;

/** An active stream of this process, with a log in the file `path` if it is given. */
export class Stream {
  constructor(path?: string);
  start(): this;
  stop(): this;
  flush(): this;
  clear(): this;
  /** Excludes event types whose level, 1 to 5, is greater than `max`. */
  level(max: number): this;
  shutdown(): void;
}

/** An event of a log. */
export interface LogEvent {
  name: string;
  /** CLOCK_REALTIME in nanoseconds */
  timeNs: bigint;
  pid: number;
  tid: number;
  fields: { [name: string]: FieldValue };
  /** The message of an event whose schema has a format, at most 4095 bytes. */
  message?: string;
  data: Buffer;
}

/**
 * A log. Each loop over the log begins with the first event. Loops over one Log share its position:
 * for a loop in a loop, open the log twice.
 */
export class Log implements Iterable<LogEvent> {
  constructor(path: string);
  [Symbol.iterator](): Generator<LogEvent, void, undefined>;
  close(): void;
}
