// SPDX-License-Identifier: LGPL-2.1-or-later
// lines.rs - lines of one name with other fields, in a generic function, and with names that are
// keywords. Usage: lines LOG
#![no_implicit_prelude]
use ::posixtrace::{event, span, Field, Stream};
use ::std::convert::From;
use ::std::io::Result;
use ::std::iter::Iterator;
use ::std::option::Option::{None, Some};
use ::std::time::Duration;

// A type of the program must not replace that of the macros.
#[allow(dead_code)]
struct String;

fn generic<T: Field>(value: T) {
    event!("generic", value: T = value);
}

fn main() -> Result<()> {
    let stream = Stream::with_log(::std::env::args().nth(1).unwrap())?;
    stream.start()?;
    generic(1u8);
    generic("text");
    generic(2u8);
    event!("same", a: i32 = 1);
    event!("same", b: &str = "x");
    event!("same", a: i32 = 2);
    event!("temporary", text: &str = &::std::format!("{} parts", 2), n: i64 = 1 + 1);
    event!("words", r#type: i32 = 1, fn: u8 = 2);
    span!("whole", r#loop: u8 = 3);
    event!("two", a: u8 = 1; "@level 9");
    let long = "a".repeat(10_000);
    event!("long", a: &str = &long, b: &str = "b", raw: &[u8] = long.as_bytes(), behind: i32 = 7);
    event!("bytes", raw: &[u8] = long.as_bytes(), text: &str = "text", behind: u8 = 8);
    event!("nul", a: &str = "a\0behind", b: &str = "b", took: Duration = Duration::MAX);
    Result::Ok(())
}
