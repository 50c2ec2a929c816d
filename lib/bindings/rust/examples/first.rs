// SPDX-License-Identifier: LGPL-2.1-or-later
use posixtrace::{event, span, Log, Stream};

fn answer(fd: i32) {
    span!("answer");
    event!("net.accept", fd: i32 = fd, peer: &str = "localhost"; "@level 4");
}

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "first.ptl".into());
    {
        let stream = Stream::with_log(&path)?;
        stream.start()?;
        (3..6).for_each(answer);
    }
    for record in Log::open(&path)?.filter(|record| !record.fields.is_empty()) {
        println!("{} {:?}", record.name, record.fields);
    }
    Ok(())
}
