//! The end of a random world: the audit, and the record of all that happened.

use super::World;
use serde_json::{Value, json};
use zooquake_checkers::evidence::{Reading, Znode};
use zooquake_checkers::history::EventType;
use zooquake_checkers::plan::{Capabilities, Cluster, Plan, Resource, Workload};
use zooquake_checkers::{Record, Tree};

impl World {
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
            let named: Vec<Value> = znodes
                .iter()
                .filter(|znode| znode.version == who as i32)
                .map(|znode| json!({ "path": znode.path, "czxid": znode.czxid }))
                .collect();
            if self.chance(90) {
                let session = self.session(who);
                self.named(
                    who,
                    EventType::Ok,
                    "quiesce",
                    json!({ "sessions": [session], "znodes": named }),
                );
            }
        }
        self.phase("done");
        let last = self.events.len();
        let before = znodes.iter().filter(|znode| znode.czxid % 5 != 0).cloned().collect();
        let reading = |index, znodes| Reading {
            index,
            end_index: index,
            znodes,
        };
        let tree = Tree {
            readings: vec![reading(first, before), reading(last, znodes)],
        };
        let mut plan = Plan {
            cluster: Cluster {
                servers: 3,
                clients: count,
                ..Cluster::default()
            },
            ..Plan::default()
        };
        let resource = if self.random.u32(..4) == 0 {
            Resource::Zookeeper
        } else {
            Resource::External
        };
        let (family, contenders) = ("lock".to_owned(), vec!["/lock".to_owned()]);
        plan.workload = Workload {
            family,
            contenders,
            resource,
            capabilities: (self.capacity.get() > 1).then_some(Capabilities {
                capacity: self.capacity,
                ..Capabilities::NONE
            }),
            ..Workload::default()
        };
        let txnlog = self.random.bool().then_some(self.txns);
        Record {
            plan,
            history: zooquake_checkers::History { events: self.events },
            tree: Some(tree),
            txnlog,
            ..Record::default()
        }
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
            let path = format!(
                "/{}/z{number}",
                if self.random.u32(..8) == 0 { "other" } else { "lock" }
            );
            let czxid = self.random.i64(200..220);
            znodes.push(Znode {
                path,
                czxid,
                mzxid: czxid,
                version,
                owner: Some(owner),
                data: String::new(),
            });
        }
        znodes
    }
}
