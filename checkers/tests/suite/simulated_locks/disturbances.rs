//! What befalls a random world beside the steps of its clients: faults, thefts, sessions that end, processes that die.

use super::{LockClientActivity, LockWorld};
use crate::anomaly_tally;
use crate::script::txn;
use serde_json::json;
use zooquake_history::EventType;

impl LockWorld {
    /// Some worlds do not recover, have a window that nobody saw healed, or a harness that stalls.
    pub(super) fn recovers(&mut self) {
        for (phase, verified) in anomaly_tally::phases(&mut self.random) {
            let value = json!({ "window": 1, "phase": phase, "target": "c1", "verified": verified });
            self.push("nemesis", None, EventType::Info, "pause", value);
        }
        if self.chance(90) {
            self.phase("recovered");
        }
        if self.chance(5) {
            self.push("run", None, EventType::Info, "stall", json!({ "ms": 1500 }));
        }
    }

    /// A client deletes the znode of some grant, in its session or in one that nobody names.
    pub(super) fn steal(&mut self, who: usize) {
        let living: Vec<usize> = (0..self.grants.len())
            .filter(|&grant| self.grants[grant].lives)
            .collect();
        if let Some(&grant) = self.random.choice(&living) {
            self.zxid += 1;
            let session = match self.chance(10) {
                true => "0x991".to_owned(),
                false => self.session(who),
            };
            self.txns
                .push(txn(self.zxid, &session, "delete", &self.grants[grant].path));
            self.grants[grant].lives = self.chance(self.cheats.theft);
        }
    }

    /// Some session ends at the ensemble without a notice to its client.
    pub(super) fn expire(&mut self) {
        let living: Vec<usize> = (0..self.grants.len())
            .filter(|&grant| self.grants[grant].lives)
            .collect();
        if let Some(&grant) = self.random.choice(&living) {
            self.log(grant, "closeSession");
            self.grants[grant].lives = false;
        }
    }

    pub(super) fn kill(&mut self, who: usize) {
        let grant = self.clients[who].grant;
        if self.clients[who].confirming {
            self.clients[who].confirming = false;
            self.clients[who].looked = None;
            if self.random.bool() {
                self.named(who, EventType::Info, "confirm", json!({}));
            }
        }
        if matches!(
            self.clients[who].doing,
            LockClientActivity::Reading | LockClientActivity::Writing
        ) && self.random.bool()
        {
            // Its reply was in the pipe.
            self.access(who, grant);
        }
        let late = self.random.bool();
        if late {
            self.named(who, EventType::Info, "exit", json!({}));
        }
        let f = match self.clients[who].doing {
            LockClientActivity::Acquiring => Some("acquire"),
            LockClientActivity::Reading => Some("read"),
            LockClientActivity::Writing => Some("write"),
            LockClientActivity::Releasing => Some("release"),
            LockClientActivity::Nothing | LockClientActivity::Holding => None,
        };
        if let Some(f) = f {
            let value = json!({ "grant": self.grants[grant].name });
            self.work(who, EventType::Info, f, value, Some("the process died"));
        }
        if !late {
            self.named(who, EventType::Info, "exit", json!({}));
        }
        self.clients[who].doing = LockClientActivity::Nothing;
        self.clients[who].process += 10;
        self.clients[who].incarnation += 1;
        let session = self.session(who);
        self.named(who, EventType::Info, "hello", json!({ "session": session }));
    }
}
