//! The way from us to a process on a host.

use anyhow::{Context, Result};
use tokio::sync::mpsc;
use zooquake_workloads::client::DriverInput;
use zooquake_workloads::protocol::Request;

/// The way to a process on a host; dropping it closes the process's stdin.
#[derive(Debug, Clone)]
pub struct Stdin(StdinRoute);

#[derive(Debug, Clone)]
enum StdinRoute {
    Lines(mpsc::UnboundedSender<String>),
    Direct(mpsc::UnboundedSender<DriverInput>),
}

impl Stdin {
    /// The way to a process that reads these lines.
    pub fn new(lines: mpsc::UnboundedSender<String>) -> Self {
        Self(StdinRoute::Lines(lines))
    }

    /// The way to a process in memory.
    pub fn direct(asked: mpsc::UnboundedSender<DriverInput>) -> Self {
        Self(StdinRoute::Direct(asked))
    }

    /// Sends one line. A line for a process that has died is lost, as its request would be.
    pub fn send(&self, line: String) {
        // The only error is that the reader has ended with the process, which the end of the output shows already.
        match &self.0 {
            StdinRoute::Lines(lines) => drop(lines.send(line)),
            StdinRoute::Direct(asked) => drop(asked.send(DriverInput::Line(line))),
        }
    }

    /// Sends a request, as a line where the process reads lines.
    ///
    /// # Errors
    /// If no JSON can be made of it.
    pub fn request(&self, request: Request) -> Result<()> {
        match &self.0 {
            StdinRoute::Lines(_) => self.send(serde_json::to_string(&request).context("writing a request")?),
            StdinRoute::Direct(asked) => drop(asked.send(DriverInput::Request(request))),
        }
        Ok(())
    }
}
