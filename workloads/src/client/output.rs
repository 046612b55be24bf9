//! The client's stdout: whole lines, each flushed, in the order in which they were sent.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use crate::protocol::Message;

/// Sends messages. Clones share the stream.
#[derive(Clone)]
pub struct Output {
    way: OutputRoute,
}

#[derive(Clone)]
enum OutputRoute {
    Stream(Sender<Line>),
    Direct(Arc<dyn Fn(Message) + Send + Sync>),
}

enum Line {
    Text(String),
    Flush(Sender<()>),
}

impl Output {
    /// Writes to `stream` from a thread of its own, so that a full pipe stops nothing but the messages.
    pub fn to(stream: impl Write + Send + 'static) -> Self {
        let (lines, receiver) = channel();
        std::thread::spawn(move || write(stream, &receiver));
        Self {
            way: OutputRoute::Stream(lines),
        }
    }

    /// Hands each message to `deliver` when it is sent, and makes no text of it: for a client in virtual time.
    pub fn direct(deliver: impl Fn(Message) + Send + Sync + 'static) -> Self {
        Self {
            way: OutputRoute::Direct(Arc::new(deliver)),
        }
    }

    /// Sends a message.
    pub fn send(&self, message: Message) {
        match &self.way {
            OutputRoute::Direct(deliver) => deliver(message),
            OutputRoute::Stream(lines) => match serde_json::to_string(&message) {
                Ok(line) => drop(lines.send(Line::Text(line + "\n"))),
                Err(error) => eprintln!("write {message:?}: {error}"),
            },
        }
    }

    /// Waits until all that was sent is written, for a moment at most.
    pub fn flush(&self) {
        let OutputRoute::Stream(lines) = &self.way else { return };
        let (done, wait) = channel();
        if lines.send(Line::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(Duration::from_millis(200));
        }
    }
}

fn write(mut stream: impl Write, lines: &Receiver<Line>) {
    for line in lines {
        let written = match line {
            Line::Text(text) => stream.write_all(text.as_bytes()).and_then(|()| stream.flush()),
            Line::Flush(done) => {
                let _ = done.send(());
                Ok(())
            }
        };
        if let Err(error) = written {
            eprintln!("write stdout: {error}");
            return;
        }
    }
}
