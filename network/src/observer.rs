//! What follows a run on a network while it goes on.

use std::ops::ControlFlow;
use zooquake_history::operation::consensus::Announcement;
use zooquake_workloads::consensus::protocol::{InputOf, Node, Protocol};

/// Follows a run while it goes on. Times are microseconds of virtual time.
pub trait Observer<P: Protocol> {
    /// A node has made something public; the run ends if this breaks.
    fn announced(&mut self, at: u32, node: Node, announcement: Announcement) -> ControlFlow<()>;

    /// The application has asked a node for an operation.
    fn requested(&mut self, at: u32, node: Node, value: u32);

    /// A node's process has died. What it made public holds no longer.
    fn died(&mut self, at: u32, node: Node);

    /// A message was sent; whether it is on its way, or was lost at once.
    fn sent(&mut self, _at: u32, _message: &Transmission<P::Message>, _on_its_way: bool) {}

    /// The message of this number has arrived at a process that takes part, or is lost.
    fn arrived(&mut self, _at: u32, _number: u32, _taken: bool) {}

    /// A node's process takes an input; of a message with its number.
    fn takes(&mut self, _at: u32, _node: Node, _input: &InputOf<P>, _message: Option<u32>) {}

    /// A disturbance has begun.
    fn began(&mut self, _at: u32, _disturbance: usize) {}

    /// A disturbance was healed, after it had hit so many messages, timers and requests.
    fn healed(&mut self, _at: u32, _disturbance: usize, _hit: u32) {}

    /// Whether the run is over though there is time left; so many messages are on their way.
    fn is_over(&mut self, _at: u32, _in_flight: u32) -> bool {
        false
    }
}

/// A message of a run.
#[derive(Debug, Clone, Copy)]
pub struct Transmission<M> {
    /// Its number among all messages of the run, from 0.
    pub number: u32,
    /// The number of the message that it is a second copy of; `None` for a first one.
    pub copy_of: Option<u32>,
    /// The node that sent it.
    pub from: Node,
    /// The node that it is for.
    pub to: Node,
    pub message: M,
}
