//! Clients that run concurrently against one simulated object.

use crate::Value;
use crate::generate::Options;
use crate::generate::event::{EventType, GeneratedEvent};
use fastrand::Rng;

/// How an operation was answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Completion {
    /// It happened; the value of its completion.
    Ok(Value),
    /// It did not happen; why.
    Fail(&'static str),
}

/// An object that clients share in a random history, with what its operations do and answer.
pub trait SimulatedObject: Sized {
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
pub enum ClientStage<O> {
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
pub struct GeneratedClients<S: SimulatedObject> {
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
    pub fn new(options: &Options, object: S) -> Self {
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
    pub fn run(mut self) -> Vec<GeneratedEvent> {
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
