//! Random small groups: members that come, change and go, watchers that mostly show what they read, and some that do
//! not.

use super::simulated_ends;
use super::simulated_sessions::{Change, GroupState, SimulatedLog, Watcher};
use crate::script::event;
use fastrand::Rng;
use serde_json::{Value, json};
use zooquake_history::{Event, EventType, Node, Record};

/// How many clients there are, each of which may be a member.
pub const CLIENTS: usize = 3;

/// An operation that was sent and has not ended.
struct PendingChange {
    f: &'static str,
    value: i64,
    /// What its answer is, once it has taken effect.
    done: Option<(EventType, Value)>,
}

/// A client, which is a member and watches.
pub struct GroupClient {
    pub session: u64,
    pub watcher: Watcher,
    doing: Option<PendingChange>,
    /// The value that it was asked for last, and the one before.
    asked: i64,
    before: i64,
    renewed: u64,
    /// The number of its last view, and what that showed.
    pub n: u64,
    pub shown: Option<GroupState>,
    /// Everything that it showed before.
    pub past: Vec<GroupState>,
    /// Whether it sends notices.
    pub notices: bool,
}

/// The state of a group, its clients and their history.
pub struct GroupWorld {
    pub random: Rng,
    pub log: SimulatedLog,
    pub clients: Vec<GroupClient>,
    pub events: Vec<Event>,
    pub now: u64,
    /// Percent of what is shown that is wrong.
    pub wrong: u32,
    /// The last value that a client was asked to write.
    pub values: i64,
    sessions: u64,
}

/// A group with everything that can go wrong; `seed` decides all of it.
pub fn record(seed: u64) -> Record {
    let mut random = Rng::with_seed(seed);
    let wrong = [0, 10, 25, 40][random.usize(0..4)];
    simulated_ends::end(world(random, wrong), wrong > 0)
}

/// A group of correct recipes.
pub fn correct(seed: u64) -> Record {
    simulated_ends::end(world(Rng::with_seed(seed), 0), false)
}

fn world(random: Rng, wrong: u32) -> GroupWorld {
    let mut world = GroupWorld {
        random,
        log: SimulatedLog::default(),
        clients: Vec::new(),
        events: Vec::new(),
        now: 0,
        wrong,
        values: 10,
        sessions: 0,
    };
    for number in 0..CLIENTS {
        world.sessions += 1;
        let client = GroupClient {
            session: world.sessions,
            watcher: Watcher::new(0),
            doing: None,
            asked: 0,
            before: 0,
            renewed: 0,
            n: 0,
            shown: None,
            past: Vec::new(),
            notices: number == 1 || world.random.bool(),
        };
        world.clients.push(client);
        world.named(
            number,
            EventType::Info,
            "hello",
            json!({"session": world.session(number)}),
        );
    }
    for _ in 0..world.random.usize(10..90) {
        let client = world.random.usize(0..CLIENTS);
        match world.random.u32(0..100) {
            0..25 => world.operate(client),
            25..55 => world.clients[client].watcher.advance(&world.log),
            55..95 => {
                world.clients[client].watcher.serve(&world.log);
                for _ in 0..world.random.usize(0..3) {
                    world.clients[client].watcher.work();
                    world.show(client);
                }
            }
            95..97 => world.disturb(client),
            97 | 98 => world.expire(client),
            _ => world.clients[client].watcher.settle(&world.log),
        }
    }
    world
}

impl GroupWorld {
    pub fn chance(&mut self, percent: u32) -> bool {
        self.random.u32(0..100) < percent
    }

    pub fn session(&self, client: usize) -> String {
        format!("0x{}", self.clients[client].session)
    }

    fn push(&mut self, who: &str, number: Option<u64>, kind: EventType, f: &str, value: Value) {
        self.now += 1_000_000;
        let index = self.events.len();
        self.events.push(event(index, self.now, who, number, kind, f, value));
    }

    pub fn named(&mut self, client: usize, kind: EventType, f: &str, value: Value) {
        self.push(&Node::client(client + 1).to_string(), None, kind, f, value);
    }

    pub fn phase(&mut self, name: &str) {
        self.push("run", None, EventType::Info, "phase", json!(name));
    }

    fn numbered(&mut self, client: usize, kind: EventType, f: &str, value: Value) {
        let number = client as u64 + 1 + 100 * self.clients[client].renewed;
        self.push(&Node::client(client + 1).to_string(), Some(number), kind, f, value);
    }

    /// Whether the client's znode is there, and of its present session.
    pub fn is_member(&self, client: usize) -> bool {
        let own = self.log.last().get(&(client + 1)).copied();
        own.is_some_and(|znode| znode.session == self.clients[client].session)
    }

    /// Sends a request to a client.
    pub fn ask(&mut self, client: usize, f: &'static str) {
        self.values += 1;
        let value = self.values;
        let asked = match f {
            "register" => json!({"member": format!("m{}", client + 1), "value": value}),
            "update" => json!({ "value": value }),
            _ => json!({}),
        };
        self.numbered(client, EventType::Invoke, f, asked);
        self.clients[client].doing = Some(PendingChange { f, value, done: None });
    }

    /// The operation of a client begins, takes effect, or ends.
    fn operate(&mut self, client: usize) {
        match &self.clients[client].doing {
            None => {
                let f = match (self.is_member(client), self.random.u32(0..10)) {
                    (true, 0..7) => "update",
                    (true, _) | (false, 0) => "deregister",
                    (false, _) => "register",
                };
                self.ask(client, f);
            }
            Some(doing) if doing.done.is_none() && self.random.u32(0..10) < 7 => self.effect(client),
            Some(_) => self.finish(client, 10),
        }
    }

    /// The operation of a client takes effect.
    pub fn effect(&mut self, client: usize) {
        let Some(mut doing) = self.clients[client].doing.take() else {
            return;
        };
        let (member, session, value) = (client + 1, self.clients[client].session, doing.value);
        let path = format!("/members/m{member}");
        if doing.f != "deregister" {
            let own = &mut self.clients[client];
            own.before = std::mem::replace(&mut own.asked, value);
        }
        let answer = match (doing.f, self.is_member(client)) {
            ("register", false) => {
                let czxid = self.create(client);
                (
                    EventType::Ok,
                    json!({"path": path, "czxid": czxid, "session": self.session(client)}),
                )
            }
            // Some acknowledge what they have not written.
            ("update", true) if self.wrong > 0 && self.chance(self.wrong / 4) => {
                let mzxid = self.log.last()[&member].mzxid;
                (EventType::Ok, json!({"path": path, "mzxid": mzxid}))
            }
            ("update", true) => {
                let mzxid = self.log.push(Change::Write { member, value, session });
                (EventType::Ok, json!({"path": path, "mzxid": mzxid}))
            }
            ("deregister", true) => {
                let czxid = self.log.last()[&member].czxid;
                self.log.push(Change::Delete { member, session });
                (EventType::Ok, json!({"removed": {"path": path, "czxid": czxid}}))
            }
            _ => (EventType::Fail, Value::Null),
        };
        doing.done.get_or_insert(answer);
        self.clients[client].doing = Some(doing);
    }

    /// Makes the znode of a client, in place of one of an earlier session.
    pub fn create(&mut self, client: usize) -> i64 {
        let (member, session, value) = (client + 1, self.clients[client].session, self.clients[client].asked);
        if self.log.last().contains_key(&member) {
            self.log.push(Change::Delete { member, session });
        }
        self.log.push(Change::Create { member, value, session })
    }

    /// The operation of a client ends, with an unknown outcome in so many percent of them.
    pub fn finish(&mut self, client: usize, unknown: u32) {
        let unknown = self.chance(unknown);
        let effect = !unknown || self.random.bool();
        if effect
            && self.clients[client]
                .doing
                .as_ref()
                .is_some_and(|doing| doing.done.is_none())
        {
            self.effect(client);
        }
        let Some(doing) = self.clients[client].doing.take() else {
            return;
        };
        match doing.done.filter(|_| !unknown) {
            Some((kind, value)) => self.numbered(client, kind, doing.f, value),
            None => {
                self.numbered(client, EventType::Info, doing.f, Value::Null);
                self.clients[client].renewed += 1;
            }
        }
    }

    /// The connection of a client is gone, and found again.
    fn disturb(&mut self, client: usize) {
        let at = self.random.usize(0..=self.log.len());
        self.clients[client].watcher.reconnect(at);
        self.show(client);
    }

    /// The session of a client ends. It has another one, perhaps as another process, and may register anew by itself.
    pub fn expire(&mut self, client: usize) {
        let session = self.clients[client].session;
        let was = self.is_member(client);
        self.log.push(Change::Close { session });
        self.sessions += 1;
        let at = self.random.usize(0..=self.log.len());
        let own = &mut self.clients[client];
        (own.session, own.watcher) = (self.sessions, Watcher::new(at));
        if self.chance(30) {
            self.named(client, EventType::Info, "exit", json!({}));
            self.named(
                client,
                EventType::Info,
                "hello",
                json!({"session": self.session(client)}),
            );
            let own = &mut self.clients[client];
            (own.doing, own.shown, own.n) = (None, None, 0);
            own.renewed += 1;
        } else {
            for (state, session) in [("expired", format!("0x{session}")), ("connected", self.session(client))] {
                self.named(
                    client,
                    EventType::Info,
                    "session",
                    json!({"state": state, "session": session}),
                );
            }
            if was && self.chance(70) {
                // Some remember an older value.
                if self.wrong > 0 && self.chance(self.wrong) {
                    self.clients[client].asked = self.clients[client].before;
                }
                self.create(client);
            }
        }
        self.show(client);
    }
}
