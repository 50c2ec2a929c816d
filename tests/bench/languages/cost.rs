// SPDX-License-Identifier: LGPL-2.1-or-later
use posixtrace::{event, Stream};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

fn trace(i: i32) {
    event!("cost", fd: i32 = i, peer: &str = "localhost");
}

fn measure(mut call: impl FnMut(i32)) -> f64 {
    (0..1000).map(|_| {
        let begin = Instant::now();
        (0..1000).for_each(&mut call);
        begin.elapsed().as_nanos() as f64 / 1000.0
    }).fold(f64::MAX, f64::min)
}

fn main() -> std::io::Result<()> {
    let off = measure(trace);
    let stream = Stream::new()?;
    stream.start()?;
    let on = measure(trace);
    drop(stream);
    let mut null = BufWriter::new(File::create("/dev/null")?);
    let tool = measure(|i| writeln!(null, "cost fd={} peer={}", i, "localhost").unwrap());
    println!("Rust|{off:.1}|{on:.0}|writeln!|{tool:.0}");
    Ok(())
}
