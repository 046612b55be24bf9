//! Operation histories of ZooKeeper recipes, and the exact checkers over them.
//!
//! This crate is pure: it does no I/O, runs no async code and knows no ZooKeeper client. It turns a [`Record`] (the plan
//! of a run, its history and the evidence read from the ensemble) into [`Results`], always the same ones for the same
//! record: [`check`].
//!
//! # Example
//!
//! A resource that accepted a write of an older grant after one of a newer one, in a history without a plan:
//!
//! ```
//! use zooquake_checkers::{Verdict, bare, jsonl::parse_jsonl};
//!
//! let mut lines = String::new();
//! let mut event = |process: u8, kind: &str, f: &str, value: &str| {
//!     let index = lines.lines().count();
//!     lines += &format!(
//!         r#"{{"index":{index},"time":{index},"process":{process},"type":"{kind}","f":"{f}","value":{value},"node":"c{process}"}}"#
//!     );
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
//! let results = bare::check(&history, Vec::new()).unwrap();
//! assert_eq!(results.verdict, Verdict::Invalid);
//! assert_eq!(results.anomalies[0].kind, "stale-write");
//! ```
//!
//! # Layout
//!
//! What goes in and its readers are those of `zooquake-history`, under the same names here; what comes out are [`results`].
//!
//! What is read out of a history is read once, in [`analysis`], for all checkers and for what draws it: `ops` pairs
//! invocations with completions (what does not pair is a matter of `pairing`), `grants` tells who was granted what from when to
//! when, `record_view` how far the evidence reaches, `zxids` which transactions an event names, `holds` who held anything
//! else, `injected` from when to when each fault was on, `near` which faults were near an anomaly,
//! `windows` which of them count, `latencies` how long what was waited for took, `clients` who had which session, `recovery`
//! where liveness is judged.
//!
//! The checkers, one a file, each from `analysis` to `findings`: `exclusion`, `resource`, `fencing`, `release`, `liveness`,
//! `stolen_znode`, `persistent_contender`, `idle`, `orphans`, `evidence_consistency`, which holds the evidence against the history, and `claims`, which holds answers about a grant against
//! each other. They name things after the family (`names`), so that a lock and an election, which are the same thing under other
//! names, share them; `places` are the znodes by which clients hold; `excluders` knows which grants exclude another one, `free` when one could be granted; `acknowledgement` is the election's own. `age` knows when a znode was not there yet. `pending` finds what
//! did not finish after recovery, for all families, and `finishing` says which answers finish. `verdict` closes a check and says
//! what the run lacks to be valid; `stats` counts, `requests` what clients told of their requests; `failover` is how long nobody
//! led after each fault; [`sample`] measures a run for comparisons with others.
//!
//! [`search`] is the fallback for types without a checker of their own, and a second opinion for those with one: a general
//! search for a linearization.
//!
//! [`generate`] makes histories of simulated objects, to try checkers with.
//!
//! `ensemble` reads ZooKeeper's own leader elections out of the servers' logs and judges them; `verdict` has it do so in
//! every run, whatever the family.
//!
//! `scenes` judges runs without clients, in which fresh ensembles are brought into a given state step by step.
//!
//! A family of workloads is a folder with checkers of its own (`commit`), or a row of those that grant (`granting`), that says which
//! checkers run, and a line in [`families`].

mod acknowledgement;
mod age;
pub mod analysis;
pub mod bare;
mod barrier;
mod claims;
mod commit;
mod counter;
pub mod crash;
pub mod ensemble;
mod evidence_consistency;
mod excluders;
mod exclusion;
mod failover;
pub mod families;
mod fencing;
mod findings;
mod finishing;
mod foreign;
mod free;
pub mod generate;
mod granting;
mod idle;
mod leaver;
mod liveness;
mod names;
mod orphans;
mod pending;
mod persistent_contender;
mod places;
mod queue;
mod register;
mod release;
mod requests;
mod resource;
pub mod results;
pub mod sample;
mod scenes;
pub mod search;
mod stats;
mod stolen_znode;
pub mod text;
mod untold;
mod verdict;

use analysis::{clients, grants, injected, intervals, near, ops, pairing, peaks, recovery, windows};

pub use commit::ENOUGH as ENOUGH_TRANSACTIONS;
pub use families::check;
pub use near::Span;
pub use results::{Anomaly, NotJudged, Results, Verdict};
pub use zooquake_history::event as history;
pub use zooquake_history::{
    Event, EventType, History, Plan, Process, Record, ServerLog, ServerSample, ServerTxnLog, Text, Tree, Txn, TxnPart,
    Value,
};
pub use zooquake_history::{edn, evidence, files, jsonl, plan, textlog, value};
