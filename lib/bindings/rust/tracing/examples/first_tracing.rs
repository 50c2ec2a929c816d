// SPDX-License-Identifier: LGPL-2.1-or-later
use posixtrace::{Log, Stream};
use posixtrace_tracing::Subscriber;
use tracing::{info, info_span, warn};

fn serve(id: u64) {
    let _span = info_span!("request", id, path = "/index.html").entered();
    info!(bytes = 512, "answered {id}");
    if id == 2 {
        warn!(error = ?std::io::ErrorKind::TimedOut, "slow");
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "first.ptl".into());
    {
        let stream = Stream::with_log(&path)?;
        stream.start()?;
        tracing::subscriber::with_default(Subscriber::new(), || (1..3).for_each(serve));
    }
    for record in Log::open(&path)?.filter(|record| !record.name.starts_with("posix_trace")) {
        println!("{} {:?}", record.name, record.fields);
    }
    Ok(())
}
