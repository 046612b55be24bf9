//! The end of a random world: the audit, and the record of all that happened.

use super::LockWorld;
use crate::script;
use serde_json::{Value, json};
use zooquake_history::{
    EventType, Record,
    evidence::Znode,
    plan::{Capabilities, Resource},
};

impl LockWorld {
    /// In some worlds a client is granted by a znode that another's session made, as the log has it.
    pub(super) fn made_by_another(&mut self) {
        if self.cheats.foreign > 0 && self.chance(self.cheats.foreign) {
            let other = self.random.usize(..self.clients.len());
            let session = self.session(other);
            self.txns.last_mut().expect("its create").session = session;
        }
    }

    pub(super) fn close(mut self, count: usize) -> Record {
        let audit = self.chance(90).then(|| self.phase("audit"));
        let first = audit.map_or(self.events.len(), |at| at + 1);
        let znodes = self.znodes();
        for who in 0..self.clients.len() {
            self.named(who, EventType::Invoke, "quiesce", json!({}));
        }
        for who in 0..self.clients.len() {
            let named = znodes.iter().filter(|znode| znode.version == who as i32);
            let named = named.map(|znode| json!({ "path": znode.path, "czxid": znode.czxid }));
            let named: Vec<Value> = named.collect();
            if self.chance(90) {
                let session = self.session(who);
                let value = json!({ "sessions": [session], "znodes": named });
                self.named(who, EventType::Ok, "quiesce", value);
            }
        }
        self.phase("done");
        let before = znodes.iter().filter(|znode| znode.czxid % 5 != 0).cloned().collect();
        let resource = match self.random.u32(..4) {
            0 => Resource::Zookeeper,
            _ => Resource::External,
        };
        let history = zooquake_history::History { events: self.events };
        let mut record = script::record("lock", "", &["/lock"], count, history);
        record.plan.workload.resource = resource;
        record.plan.workload.capabilities = (self.capacity.get() > 1).then_some(Capabilities {
            capacity: self.capacity,
            ..Capabilities::NONE
        });
        let last = record.history.events.len();
        record.tree = Some(script::readings([(first, before), (last, znodes)]));
        record.txnlog = self.random.bool().then_some(self.txns);
        record
    }

    /// Znodes of the final tree; `version` is the client that will name the znode, if there is one of that number.
    fn znodes(&mut self) -> Vec<Znode> {
        let mut znodes = vec![];
        for number in 0..self.random.i64(0..3) {
            let who = self.random.usize(..self.clients.len());
            let owner = match self.random.u32(..6) {
                0 => "0x99".to_owned(),
                1 => format!("0x{}1", who + 1),
                _ => self.session(who),
            };
            let version = if self.chance(self.cheats.orphan) { 9 } else { who as i32 };
            let folder = if self.random.u32(..8) == 0 { "other" } else { "lock" };
            let path = format!("/{folder}/z{number}");
            let czxid = self.random.i64(200..220);
            znodes.push(Znode {
                version,
                ..script::znode(&path, czxid, &owner)
            });
        }
        znodes
    }
}
