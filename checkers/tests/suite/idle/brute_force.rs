//! Random histories in which clients wait, hold, lose sessions and are struck by faults, and the definition taken
//! literally.

use crate::liveness::{self, node};
use crate::script::{self, event};
use fastrand::Rng;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use zooquake_history::{Event, EventType, History, Node, Record};

const MS: u64 = 1_000_000;

/// Two session timeouts.
const SESSIONS: u64 = 4_000 * MS;

const CLIENTS: usize = 3;

#[derive(Clone, Copy, PartialEq)]
enum ClientActivity {
    Nothing,
    Acquiring,
    Holding,
    Releasing,
}

struct IdleWorld {
    random: Rng,
    events: Vec<Event>,
    now: u64,
    grants: usize,
    clients: [(ClientActivity, String, u64); CLIENTS],
    /// The window that is on, and the number of the next one.
    window: (Option<i64>, i64),
}

/// A random record of a lock.
pub fn record(seed: u64) -> Record {
    let mut world = IdleWorld {
        random: Rng::with_seed(seed ^ 0x1d1e),
        events: Vec::new(),
        now: 0,
        grants: 0,
        clients: std::array::from_fn(|who| (ClientActivity::Nothing, String::new(), who as u64)),
        window: (None, 1),
    };
    for _ in 0..world.random.usize(6..30) {
        world.step();
    }
    let history = History { events: world.events };
    script::record("lock", "", &["/lock"], CLIENTS, history)
}

impl IdleWorld {
    fn push(&mut self, who: &str, number: Option<u64>, kind: EventType, f: &str, value: Value) {
        let step = match self.random.u8(0..5) {
            0..3 => self.random.u64(1..60),
            3 => self.random.u64(500..2_000),
            _ => self.random.u64(2_000..7_000),
        };
        self.now += step * MS;
        let event = event(self.events.len(), self.now, who, number, kind, f, value);
        self.events.push(event);
    }

    fn step(&mut self) {
        match self.random.u8(0..20) {
            0 => self.window(),
            1 => self.push("run", None, EventType::Info, "stall", json!({ "ms": 1_100 })),
            2 => self.session(),
            3 => {
                let who = self.random.usize(0..CLIENTS);
                let name = Node::client(who + 1).to_string();
                self.push(&name, None, EventType::Info, "exit", json!({ "incarnation": 1 }));
                self.clients[who].0 = ClientActivity::Nothing;
                self.clients[who].2 += 10;
            }
            4 => {
                let name = Node::client(self.random.usize(0..CLIENTS) + 1).to_string();
                let holds = self.random.bool();
                self.push(&name, None, EventType::Invoke, "confirm", json!({}));
                let value = json!({ "holds": holds, "grant": "g77" });
                self.push(&name, None, EventType::Ok, "confirm", value);
            }
            _ => self.work(),
        }
    }

    fn window(&mut self) {
        let (id, phase) = match self.window.0.take() {
            Some(id) => (id, if self.random.u8(0..5) == 0 { "skipped" } else { "off" }),
            None => {
                self.window = (Some(self.window.1), self.window.1 + 1);
                (self.window.1 - 1, "begin")
            }
        };
        let verified = self.random.u8(0..8) > 0;
        let value = json!({ "window": id, "phase": phase, "verified": verified });
        self.push("nemesis", None, EventType::Info, "pause", value);
    }

    fn session(&mut self) {
        let name = Node::client(self.random.usize(0..CLIENTS) + 1).to_string();
        let states = ["connected", "connected", "disconnected", "expired", "closed"];
        let state = states[self.random.usize(0..states.len())];
        let value = json!({ "session": format!("0x{}", self.random.u8(1..3)), "state": state });
        self.push(&name, None, EventType::Info, "session", value);
    }

    fn work(&mut self) {
        let who = self.random.usize(0..CLIENTS);
        let name = Node::client(who + 1).to_string();
        let (doing, grant, process) = self.clients[who].clone();
        let held = self.clients.iter().any(|client| client.0 == ClientActivity::Holding);
        let about = json!({ "grant": grant });
        let ends = self.random.u8(0..10);
        let (f, kind, next) = match doing {
            ClientActivity::Nothing => {
                self.grants += 1;
                self.clients[who].1 = format!("g{}", self.grants);
                let value = json!({ "grant": self.clients[who].1 });
                self.clients[who].0 = ClientActivity::Acquiring;
                return self.push(&name, Some(process), EventType::Invoke, "acquire", value);
            }
            ClientActivity::Acquiring if ends == 0 => ("acquire", EventType::Info, ClientActivity::Nothing),
            ClientActivity::Acquiring if ends == 1 => ("acquire", EventType::Fail, ClientActivity::Nothing),
            ClientActivity::Acquiring if held || ends < 7 => return,
            ClientActivity::Acquiring => ("acquire", EventType::Ok, ClientActivity::Holding),
            ClientActivity::Holding => ("release", EventType::Invoke, ClientActivity::Releasing),
            ClientActivity::Releasing if ends == 0 => ("release", EventType::Info, ClientActivity::Nothing),
            ClientActivity::Releasing if ends == 1 => ("release", EventType::Fail, ClientActivity::Nothing),
            ClientActivity::Releasing => ("release", EventType::Ok, ClientActivity::Nothing),
        };
        self.push(&name, Some(process), kind, f, about);
        self.clients[who].0 = next;
        self.clients[who].2 += if kind == EventType::Info { 10 } else { 0 };
    }
}

/// Whether a window was on at some time.
pub fn windows(record: &Record) -> bool {
    record.history.events.iter().any(|event| event.phase() == Some("begin"))
}

fn is(event: &Event, f: &str, kind: EventType) -> bool {
    event.f == f && event.kind == kind
}

/// Clients whose request is pending after the event at `at`.
fn waiting(events: &[Event], at: usize) -> Vec<&str> {
    let open = |sent: &usize| {
        let request = &events[*sent];
        let over =
            |event: &Event| event.process == request.process || event.f == "exit" && node(event) == node(request);
        is(request, "acquire", EventType::Invoke) && !events[sent + 1..=at].iter().any(over)
    };
    (0..=at).filter(open).map(|sent| node(&events[sent])).collect()
}

/// Whether some client may hold after the event at `at`.
fn held(events: &[Event], at: usize) -> bool {
    let holds = |granted: usize| {
        let grant = &events[granted];
        let ends = |event: &Event| {
            let returned = event.f == "release" && matches!(event.kind, EventType::Ok | EventType::Fail);
            let anew = is(event, "acquire", EventType::Invoke);
            node(event) == node(grant) && (returned || anew || event.f == "exit")
        };
        let granted_or_unknown = matches!(grant.kind, EventType::Ok | EventType::Info);
        grant.f == "acquire" && granted_or_unknown && !events[granted + 1..=at].iter().any(ends)
    };
    (0..=at).any(holds)
}

/// Whether the client is connected after the event at `at`, by the notices of its process.
fn connected(events: &[Event], at: usize, client: &str) -> bool {
    let mut sessions = std::collections::BTreeMap::new();
    let mut silent = true;
    for event in events[..=at].iter().filter(|event| node(event) == client) {
        match (event.f.as_str(), event.state()) {
            ("exit", _) => {
                sessions.clear();
                silent = true;
            }
            ("session", state) => {
                silent = false;
                let id = event.session().expect("a session");
                sessions.remove(id);
                match state {
                    Some("connected") => drop(sessions.insert(id, true)),
                    Some("disconnected") => drop(sessions.insert(id, false)),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    silent || !sessions.is_empty() && sessions.values().all(|connected| *connected)
}

/// The windows of a history: where each began, and where it was seen healed at last, if it was.
fn faults(events: &[Event]) -> Vec<(usize, Option<usize>)> {
    let ids: BTreeSet<i64> = events.iter().filter_map(|event| event.window()).collect();
    let each = |id: i64| {
        let of = |phase: &'static str| {
            let is = move |at: &usize| events[*at].window() == Some(id) && events[*at].phase() == Some(phase);
            (0..events.len()).filter(is)
        };
        let began = of("begin").next().filter(|_| of("skipped").next().is_none())?;
        Some((
            began,
            of("off").next_back().filter(|at| events[*at].verified() == Some(true)),
        ))
    };
    ids.into_iter().filter_map(each).collect()
}

/// Whether nothing changes who could hold, for all that is known after the event at `at`.
fn idles(events: &[Event], at: usize) -> bool {
    let waiting = waiting(events, at);
    let on = |&(began, healed): &(usize, Option<usize>)| began <= at && healed.is_none_or(|healed| healed > at);
    let faulty = faults(events).iter().any(on);
    !waiting.is_empty() && !held(events, at) && !faulty && waiting.iter().all(|node| connected(events, at, node))
}

/// Whether the event ends a spell, and the event with which it ends.
fn cut(events: &[Event], at: usize) -> Option<usize> {
    let event = &events[at];
    let lost = matches!(event.state(), Some("disconnected" | "expired"));
    let of_one_that_waits = at > 0 && waiting(events, at).contains(&node(event));
    match event.f.as_str() {
        "stall" => at.checked_sub(1),
        "confirm" if event.holds() == Some(true) => Some(at),
        "session" if lost && of_one_that_waits => Some(at),
        _ => None,
    }
}

/// The median hand-over: from the sending of a release to the next grant, if that was asked for before.
fn median(events: &[Event]) -> u64 {
    let hand_over = |at: usize| {
        let granted = (at..events.len()).find(|&next| is(&events[next], "acquire", EventType::Ok))?;
        let asked = (0..granted).rfind(|&sent| events[sent].process == events[granted].process)?;
        (asked < at).then(|| events[granted].time - events[at].time)
    };
    let releases = (0..events.len()).filter(|&at| is(&events[at], "release", EventType::Invoke));
    liveness::median(releases.filter_map(hand_over))
}

/// From when to when nobody held for too long.
pub fn idle(record: &Record) -> BTreeSet<(u64, u64)> {
    let events = &record.history.events;
    let bound = SESSIONS.max(100 * median(events));
    let quiet = |at: usize| {
        let healed = faults(events).into_iter().filter_map(|(_, healed)| healed);
        let over = healed
            .filter(|healed| *healed <= at)
            .map(|healed| events[healed].time + SESSIONS);
        over.max().unwrap_or(0)
    };
    let mut found = BTreeSet::new();
    for first in (0..events.len()).filter(|&at| idles(events, at)) {
        let goes_on = |at: usize| idles(events, at) && cut(events, at).is_none();
        if first > 0 && idles(events, first - 1) && goes_on(first) {
            continue;
        }
        let over = (first + 1..events.len()).find(|&at| !goes_on(at));
        let until = over.map_or(events.len() - 1, |at| cut(events, at).unwrap_or(at));
        let from = events[first].time.max(quiet(first));
        if events[until].time > from + bound {
            found.insert((from, events[until].time));
        }
    }
    found
}
