//! What becomes of requests yet to come, as a test or a fault wants it.

use super::net::Net;
use super::server::Server;

/// Whether it is this request: its session, and its kind (`create`, `delete`, …). Asked once for each request.
pub type Fits = Box<dyn FnMut(i64, &str) -> bool + Send>;

/// Something to be done to one request.
pub struct Scripted {
    /// To which one.
    pub fits: Fits,
    /// What becomes of it.
    pub fate: Fate,
    /// Done just before the server looks at it.
    pub before: Box<dyn FnOnce(&mut Server) + Send>,
    /// Done when it is applied, or lost before that.
    pub after: Box<dyn FnOnce(&Server) + Send>,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is answered.
    Answered,
    /// It is applied, and the connection is lost before the answer.
    ReplyLost,
    /// The connection is lost before it arrives.
    RequestLost,
}

impl Net {
    /// What becomes of the next request of a kind.
    pub fn next(&self, op: &'static str, fate: Fate) {
        self.before(op, fate, |_| {});
    }

    /// What becomes of the next request of a kind, and what happens just before.
    pub fn before(&self, op: &'static str, fate: Fate, before: impl FnOnce(&mut Server) + Send + 'static) {
        self.server().script.push(Scripted {
            fits: Box::new(move |_, asked| asked == op),
            fate,
            before: Box::new(before),
            after: Box::new(|_| {}),
        });
    }
}
