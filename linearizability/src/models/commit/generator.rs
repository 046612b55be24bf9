//! Simulated transactions, one after the other: each is begun, its sites vote, and then get the decision.

use crate::generate::{Completion, GeneratedClients, SimulatedObject};
use crate::value::Value;
use fastrand::Rng;

/// The sites of each transaction.
const SITES: u32 = 3;

/// The state of all simulated transactions.
#[derive(Debug, Default)]
pub struct Commits {
    /// By their numbers; none is begun as number 0.
    all: Vec<TransactionObject>,
    /// Operations that were drawn.
    drawn: u32,
}

/// How far a transaction is.
#[derive(Debug, Clone, Copy, Default)]
struct TransactionObject {
    /// A bit for each site that voted yes.
    yes: u32,
    /// Whether some vote may never come.
    doubtful: bool,
    committed: Option<bool>,
}

/// An operation on a transaction, by some site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitCall {
    /// To begin it.
    Begin(usize),
    /// To vote yes or no.
    Vote(usize, u32, bool),
    /// To ask for the decision.
    Decided(usize, u32),
}

impl SimulatedObject for Commits {
    type Op = CommitCall;

    fn draw(&mut self, _: usize, rng: &mut Rng) -> CommitCall {
        let (transaction, step) = (self.drawn / (1 + 2 * SITES) + 1, self.drawn % (1 + 2 * SITES));
        self.drawn += 1;
        let transaction = transaction as usize;
        self.all.resize(transaction + 1, TransactionObject::default());
        match step.checked_sub(1) {
            None => CommitCall::Begin(transaction),
            Some(site) if site < SITES => CommitCall::Vote(transaction, site, rng.u8(0..8) > 0),
            Some(site) => CommitCall::Decided(transaction, site - SITES),
        }
    }

    fn request(op: &CommitCall) -> (&'static str, Value) {
        match *op {
            CommitCall::Begin(transaction) => (
                "begin",
                Value::from_iter([Value::from(transaction as u64), (0..SITES).map(Value::from).collect()]),
            ),
            CommitCall::Vote(transaction, site, yes) => (
                "vote",
                Value::from_iter([
                    Value::from(transaction as u64),
                    Value::from(site),
                    Value::from(if yes { "yes" } else { "no" }),
                ]),
            ),
            CommitCall::Decided(transaction, site) => (
                "decided",
                Value::from_iter([Value::from(transaction as u64), Value::from(site)]),
            ),
        }
    }

    fn apply(&mut self, _: usize, op: &CommitCall) -> Option<Completion> {
        match *op {
            CommitCall::Begin(_) => {}
            CommitCall::Vote(transaction, site, yes) => {
                let transaction = &mut self.all[transaction];
                transaction.yes |= u32::from(yes) << site;
                if transaction.committed.is_none() && (!yes || transaction.yes.count_ones() == SITES) {
                    transaction.committed = Some(yes);
                }
            }
            CommitCall::Decided(number, site) => {
                let transaction = &mut self.all[number];
                if transaction.committed.is_none() && transaction.doubtful {
                    transaction.committed = Some(false);
                }
                return transaction.committed.map(|commit| decision(number, site, commit));
            }
        }
        Some(Completion::Ok(Self::request(op).1))
    }

    fn receive(&mut self, _: usize, op: &CommitCall, answer: Option<&Completion>) {
        if let (CommitCall::Vote(transaction, ..), None) = (op, answer) {
            self.all[*transaction].doubtful = true;
        }
    }

    fn may_be_late(&self, op: &CommitCall) -> bool {
        matches!(op, CommitCall::Vote(..))
    }

    fn plant_by(clients: &mut GeneratedClients<Self>, client: usize, _: bool) -> bool {
        for (site, commit) in [(0, true), (1, false)] {
            clients.at_once(client, &CommitCall::Decided(0, site), &decision(0, site, commit));
        }
        true
    }
}

/// The answer with a decision to a site.
fn decision(transaction: usize, site: u32, commit: bool) -> Completion {
    Completion::Ok(Value::from_iter([
        Value::from(transaction as u64),
        Value::from(site),
        Value::from(if commit { "commit" } else { "abort" }),
    ]))
}
