//! A connection to the engine that ends with an error where an answer breaks its bounds.

use super::address::Stream;
use super::bounds::Bounds;
use std::fmt;
use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Most bytes of the head of an answer.
const HEAD: usize = 64 << 10;

/// Most bytes of one frame of a process's streams. The engine copies pieces of 32 KiB.
const FRAME: usize = 1 << 20;

/// A connection for one request.
pub struct Guard {
    stream: Box<dyn Stream>,
    bounds: Bounds,
    /// Bytes read.
    read: u64,
    deadline: Option<Pin<Box<Sleep>>>,
    part: Part,
}

/// What is read at the moment.
enum Part {
    /// The head of an answer that may become streams, so far.
    Head(Vec<u8>),
    /// Frames of streams: the header of the next one so far, or what is left of its content.
    Frames { header: Vec<u8>, left: usize },
    /// An answer of which only length and time are bounded.
    Body,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("bounds", &self.bounds)
            .field("read", &self.read)
            .finish_non_exhaustive()
    }
}

impl Guard {
    /// Guards a connection on which one answer is read.
    pub fn new(stream: Box<dyn Stream>, bounds: Bounds) -> Self {
        let part = match bounds.streams {
            true => Part::Head(Vec::new()),
            false => Part::Body,
        };
        Self {
            stream,
            bounds,
            read: 0,
            deadline: bounds.time.map(|time| Box::pin(tokio::time::sleep(time))),
            part,
        }
    }

    /// Takes what was read into account.
    fn take(&mut self, mut bytes: &[u8]) -> Result<()> {
        while let Part::Head(head) = &mut self.part {
            let Some((byte, rest)) = bytes.split_first() else {
                return Ok(());
            };
            bytes = rest;
            head.push(*byte);
            if head.ends_with(b"\r\n\r\n") {
                // "HTTP/1.1 101 UPGRADED": from here on the connection is the streams of a process.
                let streams = head.get(9..12) == Some(b"101");
                self.part = match streams {
                    true => {
                        self.deadline = None;
                        Part::Frames {
                            header: Vec::with_capacity(8),
                            left: 0,
                        }
                    }
                    false => Part::Body,
                };
            } else if head.len() > HEAD {
                return Err(broken(format!(
                    "the head of the engine's answer is longer than {HEAD} bytes"
                )));
            }
        }
        match &mut self.part {
            Part::Frames { header, left } => frames(header, left, bytes),
            _ if self.read > self.bounds.bytes => Err(broken(format!(
                "the engine's answer is longer than {} MiB",
                self.bounds.bytes >> 20
            ))),
            _ => Ok(()),
        }
    }
}

/// Follows frames: a byte for the stream, three that are 0, four for the length of the content.
fn frames(header: &mut Vec<u8>, left: &mut usize, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        let content = bytes.len().min(*left);
        *left -= content;
        bytes = &bytes[content..];
        let missing = bytes.len().min(8 - header.len());
        header.extend_from_slice(&bytes[..missing]);
        bytes = &bytes[missing..];
        if let [stream, 0, 0, 0, a, b, c, d] = header[..] {
            *left = u32::from_be_bytes([a, b, c, d]) as usize;
            if stream > 2 || *left > FRAME {
                return Err(broken("the engine's streams have a frame that is none".to_owned()));
            }
            header.clear();
        } else if header.len() == 8 {
            return Err(broken("the engine's streams have a frame that is none".to_owned()));
        }
    }
    Ok(())
}

fn broken(why: String) -> Error {
    Error::new(ErrorKind::InvalidData, why)
}

impl AsyncRead for Guard {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let late = |deadline: &mut Pin<Box<Sleep>>| deadline.as_mut().poll(context).is_ready();
        if self.deadline.as_mut().is_some_and(late) {
            let seconds = self.bounds.time.unwrap_or_default().as_secs();
            let why = format!("the engine did not answer in full within {seconds} s");
            return Poll::Ready(Err(Error::new(ErrorKind::TimedOut, why)));
        }
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(context, buffer);
        if let Poll::Ready(Ok(())) = &outcome {
            let bytes = &buffer.filled()[before..];
            self.read += bytes.len() as u64;
            self.take(bytes)?;
        }
        outcome
    }
}

impl AsyncWrite for Guard {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
