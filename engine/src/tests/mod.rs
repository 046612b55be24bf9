//! The engine by itself: inputs and moments go in, and what comes out is looked at.

/// Takes all effects out; whether one matches the pattern.
macro_rules! took {
    ($bench:ident, $($such:tt)+) => {
        std::mem::take(&mut $bench.effects).iter().any(|effect| matches!(effect, $($such)+))
    };
}

mod calm;
mod clients;
mod faults;
mod holds;
mod liveness;
mod modes;
mod recovery;
mod restarts;

use super::*;
use serde_json::{Value, json};
use zooquake_history::plan::{ClientPlan, ClusterPlan, Cycle, PlannedTransaction};
use zooquake_history::protocol::{Message, Outcome, ProcessOutput, Request};
use zooquake_history::{EventType, Process};

/// Milliseconds of operations.
const TIME_MS: u64 = 10_000;

/// An engine, its time, and all that came out of it.
struct Bench {
    engine: Engine,
    now: Duration,
    history: Vec<HistoryEntry>,
    /// Requests that were sent and not answered.
    sent: Vec<(usize, Request)>,
    /// Processes that were started, and are not greeted: client and incarnation.
    starting: Vec<(usize, u64)>,
    /// All other effects.
    effects: Vec<Effect>,
    /// Why clients whose output has ended cannot be reached; `None` if they have ended.
    unreachable: Option<String>,
}

impl Bench {
    /// The engine of a variant's run before its begin.
    fn new(name: &str, clients: usize) -> Self {
        Self::planned(name, clients, |_| {})
    }

    /// The engine of a variant's run before its begin, whose plan is changed before.
    fn planned(name: &str, clients: usize, change: impl Fn(&mut Plan)) -> Self {
        let (family, variant) = name.split_once('/').unwrap();
        let cycle = Cycle {
            think_ms: 10,
            writes: vec![400],
        };
        let mut plan = Plan {
            workload: zooquake_workloads::recipes::workload(family, variant).unwrap(),
            cluster: ClusterPlan {
                servers: 3,
                clients,
                ..ClusterPlan::default()
            },
            time_ms: TIME_MS,
            clients: vec![
                ClientPlan {
                    cycles: vec![cycle],
                    ops: None
                };
                clients
            ],
            ..Plan::default()
        };
        change(&mut plan);
        Self {
            engine: Engine::new(plan).unwrap(),
            now: Duration::from_secs(1),
            history: Vec::new(),
            sent: Vec::new(),
            starting: Vec::new(),
            effects: Vec::new(),
            unreachable: None,
        }
    }

    /// A variant's run once all clients have said hello: operations have begun, and no window is planned.
    fn running(name: &str, clients: usize) -> Self {
        Self::with(name, clients, |_| {})
    }

    /// A variant's run once operations have begun, whose plan is changed before.
    fn with(name: &str, clients: usize, change: impl Fn(&mut Plan)) -> Self {
        let mut bench = Self::planned(name, clients, change);
        bench.step(Input::Begin);
        bench.greet(&[]);
        assert!(took!(bench, Effect::Strike));
        bench.report(0, NemesisReport::Done);
        bench.pass(1);
        bench
    }

    /// A variant's run when the first client holds and works.
    fn working(name: &str, clients: usize) -> Self {
        let mut bench = Self::running(name, clients);
        bench.ok_at_once(0, "acquire");
        bench
    }

    /// A variant's run in its recovery, each client with an operation pending.
    fn recovering(name: &str, clients: usize) -> Self {
        let mut bench = Self::running(name, clients);
        bench.pass(TIME_MS);
        assert!(took!(bench, Effect::Ask(Question::Steady)), "{:?}", bench.phases());
        bench
    }

    fn step(&mut self, input: Input) {
        for effect in self.engine.step(self.now, input) {
            match effect {
                Effect::Record(entry) => self.history.push(entry),
                Effect::Send { client, request } => self.sent.push((client, request)),
                Effect::Start { client, incarnation } => self.starting.push((client, incarnation)),
                Effect::Examine { client, incarnation } => {
                    let unreachable = self.unreachable.clone();
                    self.step(Input::Examined {
                        client,
                        incarnation,
                        unreachable,
                    });
                }
                other => self.effects.push(other),
            }
        }
    }

    /// Lets time pass, and whatever is due in it.
    fn pass(&mut self, ms: u64) {
        let until = self.now + Duration::from_millis(ms);
        while let Some(due) = self.engine.due().filter(|due| *due <= until) {
            // Only an engine that waits for nothing would be due again and again at one moment.
            self.now = self.now.max(due);
            self.step(Input::Turn);
        }
        self.now = until;
        self.step(Input::Turn);
    }

    /// Every process that is starting sends hello, and declares that it cannot do these things.
    fn greet(&mut self, cannot: &[&str]) {
        for (client, incarnation) in std::mem::take(&mut self.starting) {
            self.step(Input::Started {
                client,
                incarnation,
                started: Ok(()),
            });
            let hello = Message::Hello {
                protocol: 1,
                pid: 7,
                session: None,
                cannot: cannot.iter().map(|what| (*what).to_string()).collect(),
                kit: vec!["release".to_string()],
            };
            self.say(client, &hello);
        }
    }

    fn say(&mut self, client: usize, message: &Message) {
        let line = serde_json::to_string(message).unwrap();
        self.output(client, ProcessOutput::Line(line));
    }

    fn output(&mut self, client: usize, output: ProcessOutput) {
        let incarnation = self.engine.clients.workers[client].process.incarnation;
        self.step(Input::Client {
            client,
            incarnation,
            output,
        });
    }

    /// The client is sent a control request with the next step.
    fn ask_control(&mut self, client: usize, f: &'static str) {
        let Engine { clients, run, .. } = &mut self.engine;
        clients.ask_control(run, client, f);
    }

    /// No client does anything more by itself.
    fn let_rest(&mut self) {
        let workers = self.engine.clients.workers.iter_mut();
        workers.for_each(|worker| worker.due = None);
    }

    fn report(&mut self, token: u64, report: NemesisReport) {
        self.step(Input::Nemesis { token, report });
    }

    /// Whether this request waits for the client's answer.
    fn asked(&self, client: usize, f: &str) -> bool {
        self.sent.iter().any(|(to, request)| *to == client && request.f == f)
    }

    /// The client answers the oldest request of this name.
    fn answer(&mut self, client: usize, f: &str, outcome: Outcome, value: Value) {
        let at = self
            .sent
            .iter()
            .position(|(to, request)| *to == client && request.f == f);
        let at = at.unwrap_or_else(|| panic!("c{} was not asked to {f}: {:?}", client + 1, self.sent));
        let (_, request) = self.sent.remove(at);
        let error = (outcome != Outcome::Ok).then(|| "no".to_string());
        let id = request.id;
        let reply = Message::Reply {
            id,
            outcome,
            value,
            error,
        };
        self.say(client, &reply);
    }

    /// The client answers ok, with what it was asked.
    fn ok(&mut self, client: usize, f: &str) {
        let asked = self.sent.iter().find(|(to, request)| *to == client && request.f == f);
        let value = asked.map_or(Value::Null, |(_, request)| request.value.clone());
        self.answer(client, f, Outcome::Ok, value);
    }

    /// The client answers ok, with what it was asked, and what follows at once happens.
    fn ok_at_once(&mut self, client: usize, f: &str) {
        self.ok(client, f);
        self.pass(0);
    }

    /// Every client answers all that waits for this name.
    fn all_ok(&mut self, f: &str) {
        while let Some((client, _)) = self.sent.iter().find(|(_, request)| request.f == f) {
            self.ok(*client, f);
        }
    }

    /// The answers to the nemesis since the effects were looked at last.
    fn answers(&mut self) -> Vec<(u64, Option<NemesisAnswer>)> {
        let answer = |effect| match effect {
            Effect::Answer { token, answer } => Some((token, answer)),
            _ => None,
        };
        self.effects.drain(..).filter_map(answer).collect()
    }

    fn broken(&mut self) -> Option<String> {
        let why = |effect| match effect {
            Effect::Broken { why, .. } => Some(why),
            _ => None,
        };
        self.effects.drain(..).find_map(why)
    }

    /// The phases of the run, each with its error.
    fn phases(&self) -> Vec<String> {
        let phases = self.history.iter().filter(|entry| entry.f == "phase");
        let told = |entry: &HistoryEntry| {
            let error = entry.error.as_deref().map(|error| format!(": {error}"));
            format!("{}{}", entry.value.as_str().unwrap(), error.unwrap_or_default())
        };
        phases.map(told).collect()
    }

    fn holder(&self) -> Option<&Node> {
        self.engine.clients.holder()
    }

    /// The completions of operations of this name.
    fn completions(&self, f: &str) -> Vec<&HistoryEntry> {
        let of = |entry: &&HistoryEntry| entry.f == f && entry.kind != EventType::Invoke;
        self.history.iter().filter(of).collect()
    }

    /// The types of the completions of operations of this name.
    fn ends(&self, f: &str) -> Vec<EventType> {
        self.completions(f).iter().map(|entry| entry.kind).collect()
    }
}
