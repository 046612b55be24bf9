//! Histories of simulated objects: linearizable by construction, or with one violation planted in them.
//!
//! Clients run concurrently against one object, each with one operation in flight. An operation takes effect at one
//! moment between its invocation and its completion; one of unknown outcome before its `info`, at some later time, or
//! never, and its client goes on as a new process, as in Jepsen. The same options give the same history.
//!
//! The violation is certain by what is in the history, whatever the operations of unknown outcome did. A register has a
//! value that is written once, and a process reads it, then another one, then it again, while its write is in flight. A
//! mutex, a semaphore or a read-write lock is granted and released within holds that exclude it, whose releases
//! succeed; a mutex with tokens gives out the same token twice. Of a FIFO queue two items come out in the wrong order,
//! of an unordered one an item comes out twice, of a total one something that was not put in. A set is read without
//! what was added before, a counter with less than before, and an id is given out twice. A barrier lets in one member
//! alone, and of a transaction that nobody begins one site gets the decision commit and another abort.

use crate::value::Value;
use fastrand::Rng;
use std::fmt;
use std::str::FromStr;

/// The history, with bare values (`3`, `[3 4]`) as Jepsen writes them.
///
/// # Errors
/// If the share is no share, there are too few clients, or a violation is asked for with fewer than ten operations.
pub fn generate(options: &Options) -> Result<Vec<GeneratedEvent>, String> {
    if !(0.0..=1.0).contains(&options.unknown) {
        return Err(format!("{} is not a share from 0 to 1", options.unknown));
    }
    let needed = options.object.clients(options.violation);
    if options.clients < needed || options.violation && options.ops < 10 {
        let (what, ops) = match options.violation {
            true => ("violation", " and ten operations"),
            false => ("history", ""),
        };
        let plural = if needed == 1 { "" } else { "s" };
        return Err(format!("such a {what} needs {needed} client{plural}{ops} at least"));
    }
    let Object { simulation, size } = options.object;
    Ok((simulation.run)(options, size))
}

/// What a history is to be like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The object whose operations are simulated.
    pub object: Object,
    /// Operations, without those of a planted violation.
    pub ops: usize,
    /// Clients, so the most operations in flight beside those of unknown outcome; at least 1.
    pub clients: usize,
    /// The share of operations that end with unknown outcome, from 0 to 1.
    pub unknown: f64,
    /// What is written, put in or added; of no meaning for what has holders or members, for ids and for transactions.
    pub values: Values,
    /// The seed of the random numbers: equal options generate equal histories.
    pub seed: u64,
    /// Whether a violation is planted, after about half of the operations.
    pub violation: bool,
}

/// An object that is simulated: one of the models, with the number that it takes. `models::registry` lists and names
/// all.
#[derive(Clone, Copy)]
pub struct Object {
    pub(crate) simulation: &'static Simulation,
    pub(crate) size: u32,
}

impl Object {
    /// Its name, without the number.
    pub fn name(self) -> &'static str {
        self.simulation.name
    }

    /// Its number: permits, or members; 0 if it takes none.
    pub fn size(self) -> u32 {
        self.size
    }

    /// The loads under which checks of its histories are measured.
    pub fn loads(self) -> &'static [GeneratedLoad] {
        self.simulation.loads
    }

    /// How many clients it needs, also for a violation.
    pub fn clients(self, violation: bool) -> usize {
        (self.simulation.clients)(self.size, violation)
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.size == other.size
    }
}

impl Eq for Object {}

/// How histories of an object are generated.
pub(crate) struct Simulation {
    /// The object's name: one of its model's.
    pub name: &'static str,
    /// How many clients it needs, with its number; also for a violation.
    pub clients: fn(u32, bool) -> usize,
    /// The loads under which checks of its histories are measured, at its number of examples.
    pub loads: &'static [GeneratedLoad],
    /// Generates a history, with its number.
    pub run: fn(&Options, u32) -> Vec<GeneratedEvent>,
}

/// One client, and a second one for a violation.
pub(crate) fn one_client(_: u32, violation: bool) -> usize {
    1 + usize::from(violation)
}

/// What a history's [`Options`] are but for its object, its seed, and whether it has a violation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratedLoad {
    /// Operations, without those of a planted violation.
    pub ops: usize,
    /// Clients, each with one operation in flight.
    pub clients: usize,
    /// The share of operations of unknown outcome, from 0 to 1.
    pub unknown: f64,
    /// What is written, put in or added.
    pub values: Values,
}

impl GeneratedLoad {
    /// The load that most models have in common: 100,000 operations of 10 clients, 1 % of unknown outcome.
    pub const COMMON: Self = Self::new(100_000, 10, 0.01, Values::Unique);

    /// A load of so many operations and clients, a share of unknown outcomes, and such values.
    pub const fn new(ops: usize, clients: usize, unknown: f64, values: Values) -> Self {
        Self {
            ops,
            clients,
            unknown,
            values,
        }
    }

    /// The options of a history of an object under this load.
    pub const fn options(self, object: Object, seed: u64, violation: bool) -> Options {
        Options {
            object,
            ops: self.ops,
            clients: self.clients,
            unknown: self.unknown,
            values: self.values,
            seed,
            violation,
        }
    }
}

/// What an event is of its operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventType {
    /// The operation is sent.
    Invoke,
    /// It happened.
    Ok,
    /// It certainly did not happen.
    Fail,
    /// It may have happened, may happen later, or never.
    Info,
}

/// An event; its position is its place in the history.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedEvent {
    /// The number of the process.
    pub process: u64,
    /// Whether it is an invocation, or else the outcome.
    pub kind: EventType,
    /// The name of the operation.
    pub f: &'static str,
    /// What the operation was sent or answered with.
    pub value: Value,
    /// Why it failed, or why its outcome is unknown.
    pub error: Option<&'static str>,
}

/// The values that are written to a register, put into a queue, or added to a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Each is another one; a counter counts by one.
    Unique,
    /// Each is drawn from so many; a planted violation has others, once each. A counter counts by one to so much.
    Of(u64),
}

impl FromStr for Values {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("unique", _) => Ok(Self::Unique),
            (_, Ok(count)) if count > 0 => Ok(Self::Of(count)),
            _ => Err(format!("`{text}` is neither `unique` nor a number from 1")),
        }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unique => f.write_str("unique"),
            Self::Of(count) => count.fmt(f),
        }
    }
}

/// The values of a history, some of them used already.
#[derive(Debug)]
pub(crate) struct DrawnValues {
    values: Values,
    next: u64,
}

impl DrawnValues {
    /// None is used yet.
    pub fn new(values: Values) -> Self {
        Self { values, next: 0 }
    }

    /// A value as the history's options have it.
    pub fn draw(&mut self, rng: &mut Rng) -> u64 {
        match self.values {
            Values::Unique => self.unique(),
            Values::Of(count) => rng.u64(0..count),
        }
    }

    /// A value that is drawn nowhere else.
    pub fn unique(&mut self) -> u64 {
        self.next += 1;
        match self.values {
            Values::Unique => self.next - 1,
            Values::Of(count) => count + self.next - 1,
        }
    }

    /// A value that may be drawn, and is not this one.
    pub fn other(&mut self, value: u64) -> u64 {
        match self.values {
            Values::Unique => self.unique(),
            Values::Of(_) => u64::from(value == 0),
        }
    }
}

/// A history of clients that run concurrently against a simulated object.
pub(crate) fn simulate<S: SimulatedObject>(options: &Options, object: S) -> Vec<GeneratedEvent> {
    GeneratedClients::new(options, object).run()
}

/// How an operation was answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Completion {
    /// It happened; the value of its completion.
    Ok(Value),
    /// It did not happen; why.
    Fail(&'static str),
}

/// An object that clients share in a random history, with what its operations do and answer.
pub(crate) trait SimulatedObject: Sized {
    /// An operation on it.
    type Op: Clone;

    /// What a client does next.
    fn draw(&mut self, client: usize, rng: &mut Rng) -> Self::Op;

    /// The operation's name and the value of its invocation.
    fn request(op: &Self::Op) -> (&'static str, Value);

    /// Does a client's operation, and gives its answer; `None` if it has to wait.
    fn apply(&mut self, client: usize, op: &Self::Op) -> Option<Completion>;

    /// Notes that a client got this answer, or none.
    fn receive(&mut self, _client: usize, _op: &Self::Op, _answer: Option<&Completion>) {}

    /// Whether an operation may take effect after its client went on to the next one.
    fn may_be_late(&self, _op: &Self::Op) -> bool {
        true
    }

    /// Makes what it can of the violation; whether all of it is in the history now. `last`: no client will begin
    /// anything by itself any more.
    fn plant(clients: &mut GeneratedClients<Self>, last: bool) -> bool {
        let client = clients.idle().next();
        client.is_some_and(|client| Self::plant_by(clients, client, last))
    }

    /// The same, by a client that does nothing.
    fn plant_by(_clients: &mut GeneratedClients<Self>, _client: usize, _last: bool) -> bool {
        false
    }

    /// Ends a history whose clients do nothing any more.
    fn close(_clients: &mut GeneratedClients<Self>) {}
}

/// What a client is doing.
#[derive(Debug, Clone)]
pub(crate) enum ClientStage<O> {
    /// Nothing.
    Idle,
    /// Its operation was sent; whether its outcome will be unknown.
    Sent(O, bool),
    /// Its operation took effect, and was not answered yet.
    Done(O, Completion),
    /// Its operation took effect, and is not answered until the violation is there.
    Kept,
}

/// The clients and their object.
pub(crate) struct GeneratedClients<S: SimulatedObject> {
    options: Options,
    pub object: S,
    pub rng: Rng,
    pub stages: Vec<ClientStage<S::Op>>,
    /// The process that each is now.
    processes: Vec<u64>,
    next_process: u64,
    begun: usize,
    /// Operations whose clients went on, and which may take effect yet.
    late: Vec<(usize, S::Op)>,
    events: Vec<GeneratedEvent>,
}

impl<S: SimulatedObject> GeneratedClients<S> {
    /// Clients that have done nothing yet.
    fn new(options: &Options, object: S) -> Self {
        let clients = options.clients;
        Self {
            options: *options,
            object,
            rng: Rng::with_seed(options.seed),
            stages: vec![ClientStage::Idle; clients],
            processes: (0..clients as u64).collect(),
            next_process: clients as u64,
            begun: 0,
            late: Vec::new(),
            events: Vec::with_capacity(2 * options.ops),
        }
    }

    /// Lets them work until all operations have been begun and none can go on.
    fn run(mut self) -> Vec<GeneratedEvent> {
        let mut planted = !self.options.violation;
        // How many turns in a row changed nothing.
        let mut still = 0;
        // Some client that can go on is drawn long before.
        let patience = 64 * self.stages.len();
        while self.begun < self.options.ops || still < patience || !planted {
            if !planted && 2 * self.begun >= self.options.ops {
                let last = self.begun == self.options.ops;
                planted = S::plant(&mut self, last);
            }
            let client = self.rng.usize(0..self.stages.len());
            still = if self.turn(client) { 0 } else { still + 1 };
            if !self.late.is_empty() && self.rng.u8(0..64) == 0 {
                let (client, op) = self.late.swap_remove(self.rng.usize(0..self.late.len()));
                self.object.apply(client, &op);
            }
        }
        S::close(&mut self);
        self.events
    }

    /// A client does what comes next; whether it did anything.
    fn turn(&mut self, client: usize) -> bool {
        match std::mem::replace(&mut self.stages[client], ClientStage::Idle) {
            ClientStage::Idle => {
                if self.begun == self.options.ops {
                    return false;
                }
                self.begun += 1;
                let op = self.object.draw(client, &mut self.rng);
                self.invoke(client, &op);
                self.stages[client] = ClientStage::Sent(op, self.rng.f64() < self.options.unknown);
            }
            ClientStage::Sent(op, true) => self.lose(client, op),
            ClientStage::Sent(op, false) => match self.object.apply(client, &op) {
                Some(answer) => self.stages[client] = ClientStage::Done(op, answer),
                None => {
                    self.stages[client] = ClientStage::Sent(op, false);
                    return false;
                }
            },
            ClientStage::Done(op, answer) => self.complete(client, &op, &answer),
            ClientStage::Kept => {
                self.stages[client] = ClientStage::Kept;
                return false;
            }
        }
        true
    }

    /// Ends an operation with unknown outcome: it took effect, will do so, or never does.
    fn lose(&mut self, client: usize, op: S::Op) {
        match self.rng.u8(0..3) {
            0 => drop(self.object.apply(client, &op)),
            1 if self.object.may_be_late(&op) => self.late.push((client, op.clone())),
            _ => {}
        }
        let (f, value) = S::request(&op);
        self.event(client, EventType::Info, f, value, Some("timed-out"));
        self.object.receive(client, &op, None);
        self.processes[client] = self.next_process;
        self.next_process += 1;
    }

    /// Writes that a client's operation is sent.
    pub fn invoke(&mut self, client: usize, op: &S::Op) {
        let (f, value) = S::request(op);
        self.event(client, EventType::Invoke, f, value, None);
    }

    /// Writes how a client's operation is answered.
    pub fn complete(&mut self, client: usize, op: &S::Op, answer: &Completion) {
        let (f, asked) = S::request(op);
        match answer {
            Completion::Ok(value) => self.event(client, EventType::Ok, f, value.clone(), None),
            Completion::Fail(why) => self.event(client, EventType::Fail, f, asked, Some(why)),
        }
        self.object.receive(client, op, Some(answer));
    }

    /// Writes that a client does something that is answered at once.
    pub fn at_once(&mut self, client: usize, op: &S::Op, answer: &Completion) {
        self.invoke(client, op);
        self.complete(client, op, answer);
    }

    /// Has a client do something at once, unless it would have to wait.
    pub fn try_at_once(&mut self, client: usize, op: &S::Op) {
        if let Some(answer) = self.object.apply(client, op) {
            self.at_once(client, op, &answer);
        }
    }

    /// The clients that do nothing.
    pub fn idle(&self) -> impl Iterator<Item = usize> {
        (0..self.stages.len()).filter(|&client| matches!(self.stages[client], ClientStage::Idle))
    }

    fn event(&mut self, client: usize, kind: EventType, f: &'static str, value: Value, error: Option<&'static str>) {
        self.events.push(GeneratedEvent {
            process: self.processes[client],
            kind,
            f,
            value,
            error,
        });
    }
}
