// SPDX-License-Identifier: LGPL-2.1-or-later
// same.rs - records the events of same.c. Usage: same LOG
use posixtrace::{event, span, Stream};
use std::time::Duration;

fn accept(fd: i32, peer: &str) {
    event!("net.accept", fd: i32 = fd, peer: &str = peer; "@level 4;@counter fd;");
}

fn work() {
    span!("work");
    event!("numbers", a: u8 = 255, b: u16 = 65535, c: u32 = 4294967295, d: i64 = i64::MIN,
           e: u64 = u64::MAX, text: &str = "grün", f: f64 = -2.5, g: f32 = 0.5, h: bool = true);
}

fn nested() {
    span!("outer");
    span!("inner");
    panic!("spans end by a panic");
}

fn main() -> std::io::Result<()> {
    let stream = Stream::with_log(std::env::args().nth(1).unwrap())?;
    stream.start()?;
    accept(3, "localhost");
    accept(-1, "");
    work();
    event!("memory", raw: &[u8] = &[0, 255, 16]);
    event!("took", time: Duration = Duration::from_nanos(1500));
    for i in 0..3 {
        accept(i, "turn");
    }
    std::panic::set_hook(Box::new(|_| {}));
    assert!(std::panic::catch_unwind(nested).is_err());
    Ok(())
}
