//! Operation histories of ZooKeeper recipes, and the exact checkers over them.
//!
//! This crate is pure: it does no I/O, runs no async code and depends on no ZooKeeper client. It turns a
//! [`Record`](zooquake_history::Record)
//! (the plan of a run, its history and the evidence read from the ensemble) into [`Results`], always the same ones for
//! the same record: [`check`].
//!
//! # Example
//!
//! A resource that accepted a write of an older grant after one of a newer one, in a history without a plan:
//!
//! ```
//! use zooquake_checkers::{Verdict, inferred_plan};
//! use zooquake_history::jsonl::parse_jsonl;
//!
//! let mut lines = String::new();
//! let mut event = |process: u8, kind: &str, f: &str, value: &str| {
//!     let index = lines.lines().count();
//!     let head = format!(r#""index":{index},"time":{index},"process":{process},"node":"c{process}""#);
//!     lines += &format!(r#"{{{head},"type":"{kind}","f":"{f}","value":{value}}}"#);
//!     lines.push('\n');
//! };
//! for (process, grant) in [(1, "a"), (2, "b")] {
//!     event(process, "invoke", "acquire", &format!(r#"{{"grant":"{grant}"}}"#));
//!     event(process, "ok", "acquire", &format!(r#"{{"grant":"{grant}","czxid":{process}}}"#));
//! }
//! for (process, grant) in [(2, "b"), (1, "a")] {
//!     event(process, "invoke", "write", &format!(r#"{{"grant":"{grant}","value":{process}}}"#));
//!     event(process, "ok", "write", &format!(r#"{{"grant":"{grant}","value":{process},"accepted":true}}"#));
//! }
//! let (history, damage) = parse_jsonl(lines.as_bytes());
//! assert!(damage.is_none());
//! let results = inferred_plan::check(&history, Vec::new()).unwrap();
//! assert_eq!(results.verdict, Verdict::Invalid);
//! assert_eq!(results.anomalies[0].kind, "stale-write");
//! ```
//!
//! # Layout
//!
//! What goes in, and its readers, are those of `zooquake-history`; what comes out are [`results`].
//!
//! What is read out of a history is read once, in [`analysis`], for all checkers and for what draws it.
//!
//! A checker judges one property: it reads an `Analysis` and adds to the `findings`. Each family of workloads is a
//! folder: `grants` for locks, read-write locks, elections and semaphores, and `barrier`, `commit`, `counter`,
//! `membership`, `queue` and `register`. [`families`] lists them. Checkers that several families share stand apart:
//!
//! - `znodes`: the znodes by which clients hold, in the final tree and in the transaction logs;
//! - `liveness`: operations that did not finish after recovery;
//! - [`recipe`]: clients of a user's own recipe;
//! - [`ensemble`]: ZooKeeper's own leader elections, in every run of every family, and runs of scenes, which have no
//!   clients.
//!
//! `verdict` closes a check and adds what the run lacks to be valid; `statistics` counts and measures it; [`sample`]
//! measures it for comparisons with other runs.
//!
//! [`inferred_plan`] judges histories without a plan. [`search`] is the fallback for types without a checker of their
//! own, and a second opinion for those with one: a general search for a linearization. [`generate`] makes histories of
//! simulated objects, to try checkers with.

pub mod analysis;
mod barrier;
mod cause;
mod commit;
pub mod consensus;
mod counter;
pub mod ensemble;
pub mod families;
mod family_checks;
mod findings;
pub mod generate;
mod grants;
pub mod inferred_plan;
mod liveness;
mod membership;
mod queue;
pub mod recipe;
mod record_gaps;
mod register;
pub mod results;
pub mod sample;
pub mod search;
mod statistics;
pub mod text;
mod verdict;
mod znodes;

pub use analysis::AnomalySpan;
pub use cause::Cause;
pub use commit::ENOUGH as ENOUGH_TRANSACTIONS;
pub use families::check;
pub use family_checks::FamilyChecks;
pub use register::operations_in_order;
pub use results::{Anomaly, NotJudged, Results, Verdict};
