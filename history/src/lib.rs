//! What the parts of zooquake exchange: plans, histories, evidence, and the protocol of the clients.
//!
//! This crate is pure: it does no I/O and judges nothing. Orchestrator, clients, sidecar, checkers and reports depend
//! on it.
//!
//! What decides a run is its [`plan`], whose windows are each of a kind of [`fault`]; what was recorded in it are its
//! [`event`]s, most of them of an [`operation`] of a family of recipes; what the ensemble left behind is its
//! [`evidence`] and each [`server_log`]; [`provenance`] is what recorded it. Who takes part in it is named by a
//! [`node`]. A [`Record`] is all of them, [`files`] reads one from a run's folder, and [`jsonl`] reads and writes the
//! lines of its files. A [`value`] holds an event's JSON, and a [`text`] a name in it, in little memory. [`edn`] and
//! [`textlog`] read Jepsen's histories, and [`jsonl`] those of others in JSON. Engine and checkers share the bound of
//! [`liveness`]. A network's [`messages`] are kept beside its history. [`protocol`] defines the messages between
//! orchestrator and client.
//!
//! # Example
//!
//! A history of Jepsen's becomes one of ours, event by event:
//!
//! ```
//! use zooquake_history::edn::parse_edn;
//! use zooquake_history::{EventType, jsonl};
//!
//! let text = b"{:index 0, :time 1, :process 3, :type :invoke, :f :write, :value 5}
//!              {:index 1, :time 9, :process 3, :type :ok, :f :write, :value 5}";
//! let (history, damage) = parse_edn(text);
//! assert!(damage.is_none());
//! assert_eq!(history.events[1].kind, EventType::Ok);
//! let lines: String = history.events.iter().map(jsonl::to_line).collect();
//! assert_eq!(jsonl::parse_jsonl(lines.as_bytes()), (history, None));
//! ```

use std::collections::BTreeMap;

pub mod edn;
pub mod event;
pub mod evidence;
pub mod fault;
pub mod files;
pub mod jsonl;
pub mod liveness;
pub mod messages;
pub mod node;
pub mod operation;
pub mod plan;
pub mod protocol;
pub mod provenance;
mod schema;
pub mod server_log;
pub mod text;
pub mod textlog;
pub mod txnlog;
pub mod value;

pub use event::{Damage, Event, EventType, History, Process};
pub use evidence::{ServerSample, ServerTxnLog, TreeReadings, Txn, TxnPart};
pub use fault::FaultKind;
pub use messages::MessageRecord;
pub use node::{Host, Node};
pub use plan::Plan;
pub use provenance::Provenance;
pub use server_log::ServerLog;
pub use text::Text;
pub use value::Value;

use plan::record_files;

/// Everything that a run left behind and that a verdict rests on.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// What was to be done.
    pub plan: Plan,
    /// What was recorded, in order; of a damaged file, what stands before the damage.
    pub history: History,
    /// The znodes at the end of the run; `None` if the run was cut off before they were read.
    pub tree: Option<TreeReadings>,
    /// The servers' transaction logs merged by zxid; `None` if they were not read.
    pub txnlog: Option<Vec<Txn>>,
    /// What was read of each server's transaction logs, in the order of the servers' names; `None` in records of older
    /// versions.
    pub server_txnlogs: Option<Vec<ServerTxnLog>>,
    /// The states that the servers reported during the run, in order; `None` if they were not asked.
    pub servers: Option<Vec<ServerSample>>,
    /// The servers' own logs, in the order of the servers' names; `None` of a history alone, without a run around it.
    pub logs: Option<Vec<ServerLog>>,
    /// The last lines of what each client's processes wrote to stderr, at most [`files::LAST_LINES`] of each, by its
    /// name.
    pub client_logs: BTreeMap<String, Vec<String>>,
    /// Of a run of scenes, the servers' logs of each, by its name.
    pub scenes: BTreeMap<String, Vec<ServerLog>>,
    /// Of a network the messages of its nodes, in the order in which they were sent; `None` of any other run.
    pub messages: Option<Vec<MessageRecord>>,
    /// What recorded the run; `None` in records of older versions, and of a history alone.
    pub provenance: Option<Provenance>,
    /// What is damaged or missing in the record, in words; any entry forbids the verdict `valid`.
    pub damage: Vec<String>,
    /// Files that the plan [names](Plan::record) and that are not there, in its order. A run that goes on, or was cut
    /// off, has not written all of them.
    pub missing: Vec<String>,
}

impl Record {
    /// Why the plan was not read, in words; `None` of one that was.
    pub fn plan_damage(&self) -> Option<&str> {
        let of_plan = |damage: &&String| damage.starts_with("plan.json");
        let damage = self.damage.iter().find(of_plan).filter(|_| self.plan.format == 0);
        damage.map(String::as_str)
    }

    /// The files that the plan [names](Plan::record) and of which the record has nothing, in its order. A name that no
    /// file of a record has is left out.
    pub fn files_without_content(&self) -> Vec<String> {
        let named = self.plan.record.iter().filter(|file| self.plan.names(file));
        named.filter(|file| self.has(file) == Some(false)).cloned().collect()
    }

    /// Whether the record has content of a file beside plan and history; `None` if no record has a file of this name.
    fn has(&self, file: &str) -> Option<bool> {
        let of_server = |logs: &[ServerLog], server: &str| logs.iter().any(|log| log.server == server);
        match file {
            record_files::PROVENANCE => Some(self.provenance.is_some()),
            record_files::TREE => Some(self.tree.is_some()),
            record_files::TXNLOG => Some(self.txnlog.is_some()),
            record_files::TXNLOGS => Some(self.server_txnlogs.is_some()),
            record_files::SERVERS => Some(self.servers.is_some()),
            record_files::MESSAGES => Some(self.messages.is_some()),
            other => record_files::server_log(other).map(|(scene, server)| {
                let logs = match scene {
                    Some(scene) => self.scenes.get(scene).map(Vec::as_slice),
                    None => self.logs.as_deref(),
                };
                of_server(logs.unwrap_or_default(), server)
            }),
        }
    }
}
