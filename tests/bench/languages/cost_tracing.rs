// SPDX-License-Identifier: LGPL-2.1-or-later
use posixtrace::Stream;
use posixtrace_tracing::Subscriber;
use std::fs::File;
use std::sync::Mutex;
use std::time::Instant;
use tracing::info;
use tracing::subscriber::with_default;

fn trace(fd: i32) {
    info!(target: "cost", fd, peer = "localhost");
}

fn measure() -> f64 {
    (0..1000).map(|_| {
        let begin = Instant::now();
        (0..1000).for_each(trace);
        begin.elapsed().as_nanos() as f64 / 1000.0
    }).fold(f64::MAX, f64::min)
}

fn main() -> std::io::Result<()> {
    let off = with_default(Subscriber::new(), measure);
    let stream = Stream::new()?;
    stream.start()?;
    let on = with_default(Subscriber::new(), measure);
    drop(stream);
    let null = Mutex::new(File::create("/dev/null")?);
    let tool = with_default(tracing_subscriber::fmt().with_writer(null).finish(), measure);
    println!("Rust, crate tracing|{off:.1}|{on:.0}|tracing-subscriber::fmt|{tool:.0}");
    Ok(())
}
