//! Scripts: what the clients of a family are asked to do, one operation after the other. One family a file.

mod grants;

use super::slot::{Op, OpKind};
use serde_json::Value;
use std::fmt::Debug;
use std::time::Duration;
use zooquake_checkers::EventType;
use zooquake_checkers::plan::Plan;

/// Which operations clients are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// None.
    Quiet,
    /// As planned, on and on.
    Load,
    /// What was begun, to its end.
    Drain,
    /// After recovery: what was begun ends at once, then each client does one thing more, without work.
    Final,
}

/// What a client is asked next.
#[derive(Debug)]
pub struct Request {
    /// The operation.
    pub f: &'static str,
    /// What it is for holds and triggers.
    pub kind: OpKind,
    /// The grant it is about; empty if the family has none.
    pub grant: String,
    /// Milliseconds of work in it.
    pub work_ms: u64,
    /// Its value.
    pub value: Value,
    /// The recipe's time to answer; `None` for no limit.
    pub timeout_ms: Option<u64>,
}

/// The clients' next operations. `slots` and scripts count clients from 0.
pub trait Script: Debug + Send {
    /// The client's next operation; `None` if it has nothing to do in this mode.
    fn next(&mut self, client: usize, mode: Mode) -> Option<Request>;

    /// An operation has ended; returns how long the client waits before its next one.
    fn ended(&mut self, client: usize, op: &Op, kind: EventType, value: &Value, mode: Mode) -> Duration;

    /// The client's process has died.
    fn died(&mut self, client: usize);

    /// Recovery is over: what counts as the last thing to do begins now.
    fn recovered(&mut self);

    /// Whether the client has done the last thing to do.
    fn finished(&self, client: usize) -> bool;
}

/// The script of the plan's family.
///
/// # Errors
/// If there is none.
pub fn of(plan: &Plan) -> anyhow::Result<Box<dyn Script>> {
    match plan.workload.family.as_str() {
        "lock" => Ok(Box::new(grants::Grants::new(plan, &grants::LOCK))),
        "election" => Ok(Box::new(grants::Grants::new(plan, &grants::ELECTION))),
        other => anyhow::bail!("there is no script for the family `{other}`"),
    }
}
