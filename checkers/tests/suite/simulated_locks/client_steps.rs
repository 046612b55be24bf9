//! What the clients of a random world do, one step at a time.

use super::{ActualGrant, LockClientActivity, LockWorld};
use crate::script::txn;
use serde_json::{Value, json};
use zooquake_history::operation::{Holders, Mode};
use zooquake_history::{EventType, Txn};

impl LockWorld {
    pub(super) fn ask(&mut self, who: usize) {
        let number = self.grants.len();
        let path = match self.shared_path {
            true => "/lock/one".to_owned(),
            false => format!("/lock/{}", number % 3),
        };
        let (name, session) = (format!("g{number}"), self.session(who));
        // Worlds in which nobody shares are drawn as they were before others did.
        let (mode, value) = match self.shared > 0 && self.chance(self.shared) {
            true => (Mode::Shared, json!({ "grant": name, "mode": "shared" })),
            false => (Mode::Exclusive, json!({ "grant": name })),
        };
        self.work(who, EventType::Invoke, "acquire", value, None);
        self.grants.push(ActualGrant {
            name,
            mode,
            path,
            session,
            czxid: None,
            lives: false,
        });
        self.clients[who].grant = number;
        self.clients[who].doing = LockClientActivity::Acquiring;
    }

    pub(super) fn acquire(&mut self, who: usize, grant: usize) {
        let Some(czxid) = self.grants[grant].czxid else {
            if self.chance(5) {
                let ends = [(EventType::Fail, "no node"), (EventType::Info, "timeout")];
                let (kind, why) = *self.random.choice(&ends).expect("two");
                let value = json!({ "grant": self.grants[grant].name });
                self.work(who, kind, "acquire", value, Some(why));
                self.clients[who].doing = LockClientActivity::Nothing;
            } else if self.fits(grant) || self.chance(self.cheats.grant) {
                self.log(grant, "create");
                self.made_by_another();
                self.grants[grant].czxid = Some(self.zxid);
                self.grants[grant].lives = true;
            }
            return;
        };
        if self.chance(12) {
            self.clients[who].doing = LockClientActivity::Nothing;
            let value = json!({ "grant": self.grants[grant].name });
            return self.work(who, EventType::Info, "acquire", value, Some("connection loss"));
        }
        let age = (!self.chance(self.ageless)).then_some(czxid);
        let token = match self.chance(self.cheats.token) {
            true => self.random.i64(95..110),
            false => czxid,
        };
        let ActualGrant {
            name, path, session, ..
        } = &self.grants[grant];
        let value = json!({ "grant": name, "czxid": age, "token": token, "path": path, "session": session });
        self.work(who, EventType::Ok, "acquire", value, None);
        self.clients[who].doing = LockClientActivity::Holding;
    }

    /// Whether the ensemble grants it, for all that is granted.
    fn fits(&self, grant: usize) -> bool {
        let mut held = Holders::default();
        let living = self.grants.iter().filter(|real| real.lives);
        living.for_each(|real| *held.count_mut(real.mode) += 1);
        !held.exclude(self.grants[grant].mode, self.capacity)
    }

    pub(super) fn hold(&mut self, who: usize, grant: usize) {
        if self.patience > 0 && self.chance(self.patience) {
            return self.confirm(who);
        }
        let value = json!({ "grant": self.grants[grant].name });
        match self.random.u32(..10) {
            0..4 if self.readers && self.grants[grant].mode == Mode::Shared => {
                self.work(who, EventType::Invoke, "read", value, None);
                self.clients[who].doing = LockClientActivity::Reading;
            }
            0..4 => {
                self.work(who, EventType::Invoke, "write", value, None);
                self.clients[who].doing = LockClientActivity::Writing;
            }
            4..6 => {
                self.work(who, EventType::Invoke, "release", value, None);
                self.clients[who].doing = LockClientActivity::Releasing;
            }
            // A client that goes on believing reports nothing.
            _ if !self.grants[grant].lives && !self.chance(self.cheats.confirm) => {
                self.named(who, EventType::Info, "lost", value);
            }
            _ => {}
        }
    }

    pub(super) fn access(&mut self, who: usize, grant: usize) {
        let reads = self.clients[who].doing == LockClientActivity::Reading;
        let f = if reads { "read" } else { "write" };
        self.clients[who].doing = LockClientActivity::Holding;
        self.zxid += 1;
        let session = self.session(who);
        self.txns.push(txn(self.zxid, &session, "setData", "/resource"));
        let mzxid = match self.chance(self.cheats.grant) {
            true => self.zxid - self.random.i64(0..6),
            false => self.zxid,
        };
        let value = json!({ "grant": self.grants[grant].name });
        let (kind, value, error) = match self.random.u32(..12) {
            0 => {
                self.clients[who].doing = LockClientActivity::Nothing;
                (EventType::Info, value, Some("connection loss"))
            }
            1 if !self.chance(self.cheats.confirm) => (EventType::Fail, value, Some("not-held")),
            _ if reads => (EventType::Ok, value, None),
            2 => {
                let value = json!({ "grant": self.grants[grant].name, "accepted": false });
                (EventType::Fail, value, Some("refused: a higher token was seen"))
            }
            _ => (
                EventType::Ok,
                json!({ "grant": self.grants[grant].name, "accepted": true, "mzxid": mzxid }),
                None,
            ),
        };
        self.work(who, kind, f, value, error);
    }

    pub(super) fn release(&mut self, who: usize, grant: usize) {
        self.clients[who].doing = LockClientActivity::Nothing;
        let czxid = self.grants[grant].czxid.expect("it was granted");
        let lived = self.grants[grant].lives;
        let cheated = self.chance(self.cheats.release);
        if lived || cheated {
            self.log(grant, "delete");
        }
        self.grants[grant].lives = false;
        if self.chance(10) {
            return self.work(
                who,
                EventType::Info,
                "release",
                json!({ "grant": self.grants[grant].name }),
                Some("timeout"),
            );
        }
        let removed = match (lived, cheated) {
            (_, true) => json!({ "czxid": czxid + 1 }),
            (true, _) => json!({ "czxid": czxid }),
            _ => Value::Null,
        };
        let value = json!({ "grant": self.grants[grant].name, "removed": removed });
        self.work(who, EventType::Ok, "release", value, None);
    }

    pub(super) fn confirm(&mut self, who: usize) {
        if !self.clients[who].confirming {
            self.clients[who].confirming = true;
            return self.named(who, EventType::Invoke, "confirm", json!({}));
        }
        let looked = self.clients[who].looked.take();
        if looked.is_none() && self.chance(20) {
            // It looks at its belief now, and answers later.
            self.clients[who].looked = Some(self.belief(who));
            return;
        }
        self.clients[who].confirming = false;
        let (kind, value) = looked.unwrap_or_else(|| self.belief(who));
        self.named(who, kind, "confirm", value);
    }

    /// What a client answers to a `confirm` when it looks now.
    fn belief(&mut self, who: usize) -> (EventType, Value) {
        let real = self.grants.get(self.clients[who].grant);
        let believes = matches!(
            self.clients[who].doing,
            LockClientActivity::Holding
                | LockClientActivity::Reading
                | LockClientActivity::Writing
                | LockClientActivity::Releasing
        );
        let (name, lives) = real.map_or(("g0".to_owned(), false), |real| (real.name.clone(), real.lives));
        let holds = believes && (lives || self.chance(self.cheats.confirm));
        if !holds && self.random.bool() {
            return (EventType::Info, json!({}));
        }
        self.zxid += 1;
        let session = self.session(who);
        self.txns.push(txn(self.zxid, &session, "setData", "/scratch"));
        if holds {
            (
                EventType::Ok,
                json!({ "holds": true, "grant": name, "zxid": self.zxid }),
            )
        } else {
            (EventType::Ok, json!({ "holds": false, "zxid": self.zxid }))
        }
    }

    /// Logs a transaction on the znode of a grant, in its session.
    pub(super) fn log(&mut self, grant: usize, op: &str) {
        self.zxid += 1;
        let ActualGrant { path, session, .. } = &self.grants[grant];
        let multi = op == "create" && self.random.u32(..8) == 0;
        let op = if multi { "multi" } else { op };
        let made = txn(self.zxid, session, op, path);
        // Some worlds forget the flag now and then.
        let ephemeral = (op == "create" && self.cheats.theft > 0).then(|| self.random.u32(..5) > 0);
        self.txns.push(Txn { ephemeral, ..made });
    }
}
