//! Operation histories of ZooKeeper recipes, and the exact checkers over them.
//!
//! This crate is pure: it does no I/O, runs no async code and knows no ZooKeeper client. It turns a [`Record`] (the plan
//! of a run, its history and the evidence read from the ensemble) into [`Results`], always the same ones for the same
//! record.

pub mod evidence;
pub mod history;
pub mod plan;
pub mod results;

pub use evidence::{Tree, Txn};
pub use history::{Event, EventType, History, Process};
pub use plan::Plan;
pub use results::{Anomaly, Results, Verdict};

/// Everything that a run left behind and that a verdict rests on.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// What was to be done.
    pub plan: Plan,
    /// What was recorded, in order; of a damaged file, what stands before the damage.
    pub history: History,
    /// The znodes at the end of the run; `None` if the run was cut off before they were read.
    pub tree: Option<Tree>,
    /// The servers' transaction logs merged by zxid; `None` if they were not read.
    pub txnlog: Option<Vec<Txn>>,
    /// What is damaged or missing in the record, in words; any entry forbids the verdict `valid`.
    pub damage: Vec<String>,
}
