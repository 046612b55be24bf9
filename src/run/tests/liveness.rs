//! The bound of liveness, as the engine keeps to it and as the checkers judge by it: whatever the durations of answered
//! operations are, an operation that stays pending to the end of the last operations has been pending for long enough
//! to convict the recipe.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use zooquake_checkers::{Results, check};
use zooquake_engine::{Effect, Engine, HistoryEntry, Input, Leader, NemesisReport, Question, ShellAnswer};
use zooquake_history::{
    Event, History, Node, Record,
    evidence::Reading,
    plan::{ClientPlan, ClusterPlan, Cycle, Plan, PlannedTransaction},
    protocol::{Message, Outcome, ProcessOutput, Request},
};

const CLIENTS: usize = 4;

/// Each family's operations that convict, and the anomaly.
const STUCK: [(&str, &str, &str); 11] = [
    ("lock/fenced", "acquire", "lost-wakeup"),
    ("rwlock/fenced", "acquire", "lost-wakeup"),
    ("semaphore/leases", "acquire", "lost-wakeup"),
    ("election/epoch", "elect", "no-leader"),
    ("barrier/tutorial", "enter", "stuck-barrier"),
    ("barrier/double", "enter", "stuck-barrier"),
    ("barrier/double", "leave", "stuck-barrier"),
    ("barrier/gate", "wait", "stuck-barrier"),
    ("queue/fifo", "dequeue", "stuck-queue"),
    ("queue/claimed", "acknowledge", "stuck-queue"),
    ("commit/coordinated", "decided", "blocked-transaction"),
];

/// A request that is on its way back.
struct Reply {
    at: Duration,
    client: usize,
    request: Request,
    outcome: Outcome,
}

/// An engine, and clients that take a random time for each operation. After recovery they are asked for one operation
/// that they never do.
struct PlayedEngine {
    engine: Engine,
    plan: Plan,
    dice: fastrand::Rng,
    now: Duration,
    inputs: VecDeque<Input>,
    replies: Vec<Reply>,
    events: Vec<Event>,
    /// The operation that is not done any more once the run has recovered.
    stuck: &'static str,
    recovered: bool,
    /// The longest time that each operation takes in milliseconds, by its name.
    longest: Vec<(String, u64)>,
    items: VecDeque<Value>,
    done: bool,
}

impl PlayedEngine {
    fn new(name: &str, stuck: &'static str, seed: u64) -> Self {
        let (family, variant) = name.split_once('/').unwrap();
        let mut dice = fastrand::Rng::with_seed(seed);
        let cycle = Cycle {
            think_ms: 10,
            writes: vec![20],
        };
        let client = ClientPlan {
            cycles: vec![cycle],
            ops: None,
        };
        let plan = Plan {
            workload: zooquake_workloads::recipes::workload(family, variant).unwrap(),
            cluster: ClusterPlan {
                servers: 3,
                clients: CLIENTS,
                ..ClusterPlan::default()
            },
            time_ms: dice.u64(5_000..40_000),
            clients: vec![client; CLIENTS],
            transactions: vec![PlannedTransaction {
                votes: vec![true; CLIENTS - 1],
                work_ms: vec![0; CLIENTS - 1],
                early: true,
            }],
            ..Plan::default()
        };
        Self {
            engine: Engine::new(plan.clone()).unwrap(),
            plan,
            dice,
            now: Duration::ZERO,
            inputs: VecDeque::from([Input::Begin]),
            replies: Vec::new(),
            events: Vec::new(),
            stuck,
            recovered: false,
            longest: Vec::new(),
            items: VecDeque::new(),
            done: false,
        }
    }

    /// Plays to the end, and judges what was recorded.
    fn check(mut self) -> Results {
        while !self.done {
            let input = self.inputs.pop_front().unwrap_or_else(|| self.wait());
            for effect in self.engine.step(self.now, input) {
                self.carry_out(effect);
            }
        }
        check(&Record {
            plan: self.plan,
            history: History { events: self.events },
            ..Record::default()
        })
    }

    /// Lets time pass until something is due.
    fn wait(&mut self) -> Input {
        let next = (0..self.replies.len()).min_by_key(|&at| self.replies[at].at);
        let due = self.engine.due();
        match next.filter(|&next| due.is_none_or(|due| self.replies[next].at <= due)) {
            Some(next) => {
                let reply = self.replies.swap_remove(next);
                self.now = self.now.max(reply.at);
                self.answer(reply)
            }
            None => {
                self.now = self.now.max(due.expect("a run goes on until it is done"));
                Input::Turn
            }
        }
    }

    fn answer(&mut self, reply: Reply) -> Input {
        let Reply {
            client,
            request,
            outcome,
            ..
        } = reply;
        let mut value = request.value;
        match (request.f.as_str(), outcome) {
            ("enqueue", Outcome::Ok) => self.items.push_back(value["item"].clone()),
            ("dequeue", Outcome::Ok) => value = json!({ "item": self.items.pop_front() }),
            ("decide" | "decided", Outcome::Ok) => value["decision"] = json!("commit"),
            ("confirm", _) => value = json!({ "holds": false }),
            _ => {}
        }
        message(
            client,
            Message::Reply {
                id: request.id,
                outcome,
                value,
                error: (outcome != Outcome::Ok).then(|| "timeout".to_string()),
            },
        )
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Record(entry) => self.record(entry),
            Effect::Send { client, request } => self.send(client, request),
            Effect::Start { client, incarnation } => {
                self.inputs.push_back(Input::Started {
                    client,
                    incarnation,
                    started: Ok(()),
                });
                let hello = Message::Hello {
                    protocol: 1,
                    pid: 7,
                    session: None,
                    cannot: Vec::new(),
                    kit: Vec::new(),
                };
                self.inputs.push_back(message(client, hello));
            }
            Effect::Strike => self.inputs.push_back(Input::Nemesis {
                token: 0,
                report: NemesisReport::Done,
            }),
            Effect::Ask(question) => {
                let answer = match question {
                    Question::Steady => ShellAnswer::Steady(Ok(Leader {
                        server: Node::server(1),
                        epoch: 1,
                    })),
                    Question::Leader(_) => ShellAnswer::Leads(Ok(())),
                    Question::Runs(_) => ShellAnswer::Running(Ok("not paused".to_string())),
                    Question::Tree => ShellAnswer::Tree(Ok(Reading {
                        index: self.events.len(),
                        end_index: self.events.len(),
                        znodes: Vec::new(),
                    })),
                };
                self.inputs.push_back(Input::Answer(answer));
            }
            Effect::Broken { why, .. } => panic!("{why}"),
            Effect::Done(_) => self.done = true,
            _ => {}
        }
    }

    fn record(&mut self, entry: HistoryEntry) {
        self.recovered |= entry.value == "recovered";
        self.events.push(Event {
            index: self.events.len(),
            time: self.now.as_nanos() as u64,
            process: entry.process,
            kind: entry.kind,
            f: entry.f.into(),
            value: entry.value.into(),
            error: entry.error,
            node: entry.node.as_ref().map(Into::into),
        });
    }

    /// The client begins to do what it is asked. One that is stuck gives up when the engine's limit is over.
    fn send(&mut self, client: usize, request: Request) {
        let control = matches!(request.f.as_str(), "quiesce" | "confirm");
        // The last client of a queue drains it.
        let drains = request.f == "dequeue" && client + 1 == CLIENTS;
        let stuck = self.recovered && request.f == self.stuck && !drains;
        let (after, outcome) = match request.timeout_ms {
            Some(limit) if stuck => (limit, Outcome::Info),
            limit => (
                if control {
                    0
                } else {
                    self.takes(&request.f).min(limit.unwrap_or(u64::MAX))
                },
                Outcome::Ok,
            ),
        };
        self.replies.push(Reply {
            at: self.now + Duration::from_millis(after),
            client,
            request,
            outcome,
        });
    }

    /// A random time for an operation of this name, which is slow or is not.
    fn takes(&mut self, f: &str) -> u64 {
        let longest = match self.longest.iter().find(|(name, _)| name == f) {
            Some(&(_, longest)) => longest,
            None => {
                // An item must lie in the queue, and everybody be there, soon after recovery.
                let quick = self.dice.bool() || matches!(f, "enqueue" | "join");
                let longest = if quick { 20 } else { self.dice.u64(500..6_000) };
                self.longest.push((f.to_string(), longest));
                longest
            }
        };
        self.dice.u64(0..longest)
    }
}

fn message(client: usize, message: Message) -> Input {
    Input::Client {
        client,
        incarnation: 1,
        output: ProcessOutput::Message(message),
    }
}

/// Of an operation that convicts nobody the checkers state if it was pending for less than the bound. In few runs it
/// waits for another client, and convicts nobody for that.
#[test]
fn what_is_pending_to_the_end_of_the_last_operations_convicts_whatever_the_durations_were() {
    for (name, stuck, kind) in STUCK {
        let (mut found, mut slow) = (0, 0);
        for seed in 0..20 {
            let results = PlayedEngine::new(name, stuck, seed).check();
            match results.anomalies.iter().find(|one| one.kind == kind) {
                Some(one) => {
                    found += 1;
                    slow += usize::from(!one.why.contains("The bound is 10.000 s"));
                }
                None => {
                    let short = results
                        .reasons
                        .iter()
                        .find(|why| why.contains("after which that convicts"));
                    assert_eq!(short, None, "{name} {stuck}, seed {seed}");
                }
            }
        }
        assert!(
            found > 15 && slow > 2,
            "{name} {stuck}: {found}, {slow} by more than the least bound"
        );
    }
}
