//! The history and the messages of a run, as they are recorded while it goes on.

use crate::judging::JudgingObserver;
use crate::observer::{Observer, Transmission};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use zooquake_history::fault::Payload;
use zooquake_history::operation::consensus::{Announcement, CONTENT, NODES, f};
use zooquake_history::operation::nemesis::{ClockReading, WindowEvent, WindowPhase};
use zooquake_history::plan::{ConsensusGoal, Plan, Target};
use zooquake_history::{Event, EventType, MessageRecord, Node as NodeName, Process, node};
use zooquake_workloads::consensus::protocol::{Node, Protocol};

/// What is recorded of a run.
#[derive(Debug, Default)]
pub struct NetworkRecord {
    /// The events of its history.
    pub events: Vec<Event>,
    /// The messages of its nodes, in the order in which they were sent.
    pub messages: Vec<MessageRecord>,
}

/// A client's operation that has no answer yet.
struct OpenOperation {
    process: u64,
    f: &'static str,
    value: u32,
}

/// Records a run, and ends it when all has come about after healing.
pub struct RecordingObserver<'a> {
    plan: &'a Plan,
    names: &'a [NodeName],
    judge: JudgingObserver,
    record: NetworkRecord,
    /// Phases that have not begun, the next one last, each with its moment.
    phases: Vec<(u32, &'static str)>,
    open: BTreeMap<Node, Vec<OpenOperation>>,
    processes: u64,
}

/// Nanoseconds of a microsecond.
const NS: u64 = 1_000;

impl<'a> RecordingObserver<'a> {
    /// Begins the record of a plan's run, whose disturbances are all healed at a moment; `None` for a run that is not
    /// followed until after that.
    pub fn begin(plan: &'a Plan, names: &'a [NodeName], judge: JudgingObserver, healed: Option<u32>) -> Self {
        let phases = healed.map(|healed| vec![(healed, "recovered"), (healed, "heal")]);
        let mut recording = Self {
            plan,
            names,
            judge,
            record: NetworkRecord::default(),
            phases: phases.unwrap_or_default(),
            open: BTreeMap::new(),
            processes: 0,
        };
        recording.notice(0, "run", "clock", json!(ClockReading { unix_us: 0 }));
        recording.notice(0, "run", "confinement", json!({ "in_memory": true }));
        recording.notice(0, "run", NODES, json!(names));
        recording.notice(0, "run", "phase", json!("ops"));
        recording
    }

    /// Ends the record at a moment.
    pub fn finish(mut self, at: u32) -> NetworkRecord {
        self.enter_phases(at);
        self.notice(at, "run", "phase", json!("done"));
        self.record
    }

    fn enter_phases(&mut self, at: u32) {
        while let Some((since, phase)) = self.phases.pop_if(|(since, _)| *since <= at) {
            let event = named("run", "phase", json!(phase));
            self.append(since, event);
        }
    }

    /// Records an event of a named process.
    fn notice(&mut self, at: u32, process: &str, f: &str, value: Value) {
        self.push(at, named(process, f, value));
    }

    fn push(&mut self, at: u32, event: Event) {
        self.enter_phases(at);
        self.append(at, event);
    }

    fn append(&mut self, at: u32, event: Event) {
        self.record.events.push(Event {
            index: self.record.events.len(),
            time: u64::from(at) * NS,
            ..event
        });
    }

    fn operation(
        &mut self,
        at: u32,
        node: Node,
        (kind, value, error): (EventType, u32, Option<String>),
        open: &OpenOperation,
    ) {
        let mut content = Value::Null;
        CONTENT.put(&mut content, value);
        let event = Event {
            process: Process::Number(open.process),
            kind,
            error,
            node: Some((&self.names[usize::from(node)]).into()),
            ..named("", open.f, content)
        };
        self.push(at, event);
    }

    /// The operation that an answer ends: the one about its value, or else the first.
    fn answered(&mut self, at: u32, node: Node, value: u32) {
        let Some(open) = self.open.get_mut(&node).filter(|open| !open.is_empty()) else {
            return;
        };
        let exact = open.iter().position(|open| open.value == value).unwrap_or(0);
        let ended = open.remove(exact);
        self.operation(at, node, (EventType::Ok, value, None), &ended);
    }

    fn window(&mut self, at: u32, disturbance: usize, phases: [(WindowPhase, Option<u32>); 2]) {
        let window = &self.plan.windows[disturbance];
        let target = match &window.target {
            Target::Node(name) => name.to_string(),
            // A share of all messages hits no node of its own.
            Target::Servers(_) if matches!(window.payload, Some(Payload::Share(_))) => "all links".to_owned(),
            Target::Servers(names) => node::join(names, ","),
            _ => String::new(),
        };
        let fault = window.fault.clone();
        for (number, (phase, hit)) in phases.into_iter().enumerate() {
            let event = WindowEvent {
                window: self.plan.windows[disturbance].id,
                phase,
                target: Some(target.clone()),
                verified: (number == 1).then_some(true),
                detail: hit.map(|hit| format!("{hit} messages, timers and requests were hit")),
                evidence: None,
                hit,
            };
            self.notice(at, "nemesis", &fault, json!(event));
        }
    }
}

/// An event of a named process that is no operation, before it has a place and a time.
fn named(process: &str, f: &str, value: Value) -> Event {
    Event {
        index: 0,
        time: 0,
        process: Process::Name(process.into()),
        kind: EventType::Info,
        f: f.into(),
        value: value.into(),
        error: None,
        node: None,
    }
}

impl<P: Protocol> Observer<P> for RecordingObserver<'_> {
    fn announced(&mut self, at: u32, node: Node, announcement: Announcement) -> ControlFlow<()> {
        // What violates a property does not end a run that is recorded: its rest may show more.
        let _ = Observer::<P>::announced(&mut self.judge, at, node, announcement);
        if let Announcement::Answered { value } = announcement {
            self.answered(at, node, value);
            return ControlFlow::Continue(());
        }
        let name = &self.names[usize::from(node)];
        let (f, value) = announcement.event(self.names);
        let event = Event {
            process: name.into(),
            node: Some(name.into()),
            ..named("", &f, value)
        };
        self.push(at, event);
        ControlFlow::Continue(())
    }

    fn requested(&mut self, at: u32, node: Node, value: u32) {
        Observer::<P>::requested(&mut self.judge, at, node, value);
        let f = match self.plan.workload.goal {
            ConsensusGoal::Log => f::APPEND,
            _ => f::PROPOSE,
        };
        let process = self.processes;
        self.processes += 1;
        let open = OpenOperation { process, f, value };
        self.operation(at, node, (EventType::Invoke, value, None), &open);
        self.open.entry(node).or_default().push(open);
    }

    fn died(&mut self, at: u32, node: Node) {
        Observer::<P>::died(&mut self.judge, at, node);
        for open in self.open.remove(&node).unwrap_or_default() {
            let why = Some("the process died".to_owned());
            self.operation(at, node, (EventType::Info, open.value, why), &open);
        }
    }

    fn sent(&mut self, at: u32, message: &Transmission<P::Message>, on_its_way: bool) {
        let figure = P::figure(&message.message);
        let name = |node: Node| self.names[usize::from(node)].to_string();
        let sent = u64::from(at) * NS;
        self.record.messages.push(MessageRecord {
            number: message.number,
            copy_of: message.copy_of,
            from: name(message.from),
            to: name(message.to),
            sent,
            received: None,
            lost: (!on_its_way).then_some(sent),
            kind: figure.kind.to_owned(),
            detail: figure.detail,
            round: figure.round,
        });
    }

    fn arrived(&mut self, at: u32, number: u32, taken: bool) {
        let message = &mut self.record.messages[number as usize];
        let end = match taken {
            true => &mut message.received,
            false => &mut message.lost,
        };
        *end = Some(u64::from(at) * NS);
    }

    fn began(&mut self, at: u32, disturbance: usize) {
        self.window(at, disturbance, [(WindowPhase::Begin, None), (WindowPhase::On, None)]);
    }

    fn healed(&mut self, at: u32, disturbance: usize, hit: u32) {
        self.window(
            at,
            disturbance,
            [(WindowPhase::Heal, None), (WindowPhase::Off, Some(hit))],
        );
    }

    fn is_over(&mut self, at: u32, in_flight: u32) -> bool {
        Observer::<P>::is_over(&mut self.judge, at, in_flight)
    }
}
