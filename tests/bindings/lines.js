// SPDX-License-Identifier: LGPL-2.1-or-later
// lines.js - a stream without a reference survives the garbage collector; wrong values are refused.
// Usage: node --expose-gc lines.js LOG
'use strict';
const posixtrace = require('posixtrace');
const turn = posixtrace.event('turn', 's32 i');
const letter = posixtrace.event('letter', 'char c;str s');

// A NUL must not cut the path to that of this log.
for (const wrong of [null, 7, new URL('file:///x.ptl'), process.argv[2] + '\0.ptl']) {
  for (const type of [posixtrace.Stream, posixtrace.Log]) {
    try {
      new type(wrong);
      console.log('no error');
    } catch (error) {
      console.log(`${error}`);
    }
  }
}
// Not traced: the first call is checked, and later calls are not.
const early = posixtrace.event('early', 's32 i;str s');
for (const values of [['x', 'y'], [1], [1, 'y'], ['x', 'y']]) {
  try {
    early(...values);
    console.log('early: no error');
  } catch (error) {
    console.log(`early: ${error}`);
  }
}
new posixtrace.Stream(process.argv[2]).start();
for (const wrong of [() => turn('text'), () => posixtrace.event('turn', 'str i'),
                     () => posixtrace.event('large', 'u8[1021] a;bytes b'),
                     () => posixtrace.event('full', 'u8[1019] a;bytes b;str c'),
                     () => posixtrace.event('cut\0off', 's32 i'), () => posixtrace.event(5),
                     () => posixtrace.event('none', null), () => posixtrace.span('a\0'),
                     () => letter('\u20ac', ''), () => letter('xx', ''), () => letter('x', 7),
                     () => new posixtrace.Log(process.argv[2] + '.missing'),
                     () => new posixtrace.Log(__filename)]) {
  try {
    wrong();
  } catch (error) {
    console.log(`${error}`, error.code);
  }
}
posixtrace.event('long', 'str a;str b;s32 behind')('a'.repeat(2000), 'b', 7);
posixtrace.event('fixed', 'str[8] a;str b;str[4] c;str d')('a'.repeat(2000), 'b'.repeat(900), 'cccc', 'd');
posixtrace.event('behind', 'str a;str[4] b')('a'.repeat(2000), 'bbbb');
letter('x', null);
letter(65, undefined);
let left = 3;
const next = () => {
  global.gc();
  turn(left);
  if (--left)
    setImmediate(next);
};
setImmediate(next);
