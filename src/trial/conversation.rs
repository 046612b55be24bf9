//! A conversation with one process of a client: what was sent to it, and what it sent, with the times.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use zooquake_backend::{Clock, OnOutput, Stdin};
use zooquake_history::protocol::{Message, Outcome, ProcessOutput, Request};

/// How often it is looked whether something was said.
const LOOK: Duration = Duration::from_millis(5);

/// A line of a client.
#[derive(Debug, Clone)]
pub struct TimedLine {
    /// When it was read.
    pub at: Duration,
    /// The message; `None` if the line is none.
    pub message: Option<Message>,
    pub line: String,
}

#[derive(Debug, Default)]
struct ClientLine {
    lines: Vec<TimedLine>,
    ended: bool,
}

/// A reply, and how long it took.
#[derive(Debug, Clone)]
pub struct TimedReply {
    /// The operation that it answers.
    pub f: &'static str,
    /// How the operation ended.
    pub outcome: Outcome,
    pub value: Value,
    /// Why it failed.
    pub error: Option<String>,
    /// From the request to its reading.
    pub took: Duration,
}

impl TimedReply {
    /// The reply, and what was expected in its place.
    pub fn unlike(&self, expected: &str) -> String {
        format!("{}; expected: {expected}", self.shown())
    }

    /// The reply as it is shown.
    pub fn shown(&self) -> String {
        let name = format!("{:?}", self.outcome).to_lowercase();
        let error = self
            .error
            .as_ref()
            .map(|error| format!(" ({error})"))
            .unwrap_or_default();
        let (f, took) = (self.f, self.took.as_millis());
        format!("`{f}` was answered {name} {}{error} after {took} ms", self.value)
    }
}

/// A request that was sent.
#[derive(Debug, Clone, Copy)]
pub struct SentRequest {
    id: u64,
    f: &'static str,
    at: Duration,
}

impl SentRequest {
    /// Its number.
    pub fn id(self) -> u64 {
        self.id
    }
}

/// The process, as it is heard and spoken to.
pub struct Talk {
    clock: Arc<dyn Clock>,
    said: Arc<Mutex<ClientLine>>,
    stdin: Option<Stdin>,
    /// Each request by its number, with its operation.
    asked: Vec<(u64, &'static str)>,
}

impl Talk {
    /// A process that is not spoken to yet, and what hears it.
    pub fn new(clock: Arc<dyn Clock>) -> (Self, OnOutput) {
        let said = Arc::new(Mutex::new(ClientLine::default()));
        let (hears, now) = (Arc::clone(&said), Arc::clone(&clock));
        let on_output = Box::new(move |output| {
            let mut said = hears.lock().unwrap_or_else(PoisonError::into_inner);
            match output {
                ProcessOutput::Line(line) => said.lines.push(TimedLine {
                    at: now.now(),
                    message: serde_json::from_str(&line).ok(),
                    line,
                }),
                ProcessOutput::Message(message) => said.lines.push(TimedLine {
                    at: now.now(),
                    line: json!(message).to_string(),
                    message: Some(message),
                }),
                ProcessOutput::Ended => said.ended = true,
            }
        });
        let talk = Self {
            clock,
            said,
            stdin: None,
            asked: Vec::new(),
        };
        (talk, on_output)
    }

    /// The way to it is open.
    pub fn open(&mut self, stdin: Stdin) {
        self.stdin = Some(stdin);
    }

    /// Ends its stdin.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Sends a line as it is.
    pub fn line(&self, line: &str) {
        if let Some(stdin) = &self.stdin {
            stdin.send(line.to_string());
        }
    }

    /// Sends a request.
    pub fn send(&mut self, f: &'static str, value: Value, timeout_ms: Option<u64>) -> SentRequest {
        let asked = self.number(f);
        let request = Request {
            id: asked.id,
            f: f.to_string(),
            value,
            timeout_ms,
        };
        self.line(&json!(request).to_string());
        asked
    }

    /// The number of a request that [`Talk::line`] sends.
    pub fn number(&mut self, f: &'static str) -> SentRequest {
        let id = self.asked.len() as u64 + 1;
        self.asked.push((id, f));
        SentRequest {
            id,
            f,
            at: self.clock.now(),
        }
    }

    /// Sends a request and waits so long for its reply.
    ///
    /// # Errors
    /// If none comes, in words.
    pub async fn ask(&mut self, f: &'static str, value: Value, limit: Duration) -> Result<TimedReply, String> {
        let asked = self.send(f, value, None);
        self.reply(asked, limit).await
    }

    /// Waits so long for a reply.
    ///
    /// # Errors
    /// If none comes, in words.
    pub async fn reply(&self, asked: SentRequest, limit: Duration) -> Result<TimedReply, String> {
        let reply = |heard: &TimedLine| match &heard.message {
            Some(Message::Reply {
                id,
                outcome,
                value,
                error,
            }) if *id == asked.id => Some(TimedReply {
                f: asked.f,
                outcome: *outcome,
                value: value.clone(),
                error: error.clone(),
                took: heard.at.saturating_sub(asked.at),
            }),
            _ => None,
        };
        let found = self.hear(limit, |lines| lines.iter().find_map(reply)).await;
        found.ok_or_else(|| match self.ended() {
            true => format!("the process ended instead of answering `{}`", asked.f),
            false => format!("`{}` was not answered in {} ms", asked.f, limit.as_millis()),
        })
    }

    /// Waits so long until something is found in what it said, or it has ended.
    pub async fn hear<T>(&self, limit: Duration, find: impl Fn(&[TimedLine]) -> Option<T>) -> Option<T> {
        let until = self.clock.now() + limit;
        loop {
            let (found, ended) = {
                let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
                (find(&said.lines), said.ended)
            };
            if found.is_some() || ended || self.clock.now() >= until {
                return found;
            }
            self.clock.sleep(LOOK).await;
        }
    }

    /// Waits so long until its stream ends; whether it has.
    pub async fn end(&self, limit: Duration) -> bool {
        let until = self.clock.now() + limit;
        while !self.ended() && self.clock.now() < until {
            self.clock.sleep(LOOK).await;
        }
        self.ended()
    }

    /// Whether its stream has ended.
    pub fn ended(&self) -> bool {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).ended
    }

    /// All that it sent.
    pub fn lines(&self) -> Vec<TimedLine> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).lines.clone()
    }

    /// All that it sent, with the operation that a reply answers.
    pub fn with_operations(&self) -> Vec<(Option<&'static str>, TimedLine)> {
        let f = |heard: &TimedLine| match heard.message {
            Some(Message::Reply { id, .. }) => self.asked.iter().find(|(asked, _)| *asked == id).map(|(_, f)| *f),
            _ => None,
        };
        self.lines().into_iter().map(|heard| (f(&heard), heard)).collect()
    }

    /// The states of its sessions that it has reported, in order: the session and its state.
    pub fn sessions(&self) -> Vec<(String, String)> {
        let of = |heard: TimedLine| match heard.message {
            Some(Message::Notice { notice, value }) if notice == "session" => Some((
                value["session"].as_str()?.to_string(),
                value["state"].as_str()?.to_string(),
            )),
            _ => None,
        };
        self.lines().into_iter().filter_map(of).collect()
    }

    /// The first line that is no message, or a reply to nothing or to something answered already; `None` if all are
    /// well.
    pub fn stray(&self) -> Option<String> {
        let mut open: Vec<u64> = self.asked.iter().map(|(id, _)| *id).collect();
        let wrong = |heard: TimedLine| match heard.message {
            None => Some(format!("the line {:?} is not a message", heard.line)),
            Some(Message::Reply { id, .. }) => match open.iter().position(|asked| *asked == id) {
                Some(at) => {
                    open.swap_remove(at);
                    None
                }
                None => Some(format!("the line {:?} answers nothing that is open", heard.line)),
            },
            Some(_) => None,
        };
        self.lines().into_iter().find_map(wrong)
    }
}
