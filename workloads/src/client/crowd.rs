//! Many clients in one process, each with its own recipe object and sessions: what a measurement needs that asks how a
//! recipe fares with fifty of them.
//!
//! `ZOOQUAKE_CLIENT` has all their names, with commas. A line is a client's name, a space, and the line of the protocol
//! that the client reads or writes.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::{Config, Output, client, crash_on_panic, read_stdin, variant};

/// Runs the clients on stdin and stdout. It does not return: it ends the process when stdin ends.
///
/// # Errors
/// If the configuration names no variant.
pub async fn run(config: Config) -> anyhow::Result<()> {
    let variant = variant(&config)?;
    crash_on_panic();
    let mut clients = HashMap::new();
    for name in config.client.split(',') {
        let output = Output::to(LabelledStdout { name: name.into() });
        let (lines, requests) = mpsc::unbounded_channel();
        tokio::spawn(client(&config, variant, name, output)?.serve(requests));
        clients.insert(name.to_string(), lines);
    }
    // Once stdin is closed the orchestrator reads no more: there is no final output to wait for.
    let mut lines = read_stdin(|| {});
    while let Some(line) = lines.recv().await {
        let known = line
            .split_once(' ')
            .and_then(|(name, request)| Some((clients.get(name)?, request)));
        match known {
            // A client serves for as long as it gets requests.
            Some((client, request)) => drop(client.send(request.to_string())),
            None => eprintln!("for no client: {line}"),
        }
    }
    std::future::pending().await
}

/// A stdout that puts a client's name before each line. Each write is whole lines, as [`Output`] makes them.
struct LabelledStdout {
    name: Arc<str>,
}

impl Write for LabelledStdout {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let mut stdout = std::io::stdout().lock();
        write!(stdout, "{} ", self.name)?;
        stdout.write_all(line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().flush()
    }
}
