//! What is still to happen in a network, by the moment at which it does.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use zooquake_workloads::consensus::protocol::Node;

/// What happens at a moment.
#[derive(Debug, Clone, Copy)]
pub enum QueuedEvent<M> {
    /// A message arrives.
    Message {
        /// Its number among all messages.
        number: u32,
        /// The node that sent it.
        from: Node,
        /// The node that it is for.
        to: Node,
        message: M,
    },
    /// A timer runs out, if it is still set.
    Timer {
        /// The node that set it.
        node: Node,
        /// The number of the setting.
        setting: u32,
    },
    /// The application asks a client's node for an operation.
    Request {
        node: Node,
        /// The value of the operation.
        value: u32,
    },
    /// The disturbance of this number begins.
    Begin(usize),
    /// The disturbance of this number is healed.
    End(usize),
    /// The step of this number of the script.
    Step(usize),
}

/// What is to happen, the earliest first; of one moment what was entered first.
#[derive(Debug)]
pub struct EventQueue<M> {
    heap: BinaryHeap<DueEntry<M>>,
    entered: u32,
}

impl<M> Default for EventQueue<M> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::with_capacity(64),
            entered: 0,
        }
    }
}

impl<M> EventQueue<M> {
    /// Enters what happens at a moment, in microseconds.
    pub fn push(&mut self, at: u32, due: QueuedEvent<M>) {
        self.heap.push(DueEntry {
            at,
            number: self.entered,
            due,
        });
        self.entered += 1;
    }

    /// Takes out what happens next, with its moment.
    pub fn pop(&mut self) -> Option<(u32, QueuedEvent<M>)> {
        self.heap.pop().map(|entry| (entry.at, entry.due))
    }
}

#[derive(Debug)]
struct DueEntry<M> {
    at: u32,
    number: u32,
    due: QueuedEvent<M>,
}

impl<M> DueEntry<M> {
    fn key(&self) -> (u32, u32) {
        (self.at, self.number)
    }
}

impl<M> PartialEq for DueEntry<M> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<M> Eq for DueEntry<M> {}

impl<M> PartialOrd for DueEntry<M> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The earlier entry is the greater one: a heap gives its greatest.
impl<M> Ord for DueEntry<M> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}
