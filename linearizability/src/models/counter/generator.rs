//! A simulated counter.

use crate::generate::{Completion, GeneratedClients, Options, SimulatedObject, Values};
use crate::value::Value;
use fastrand::Rng;

/// An operation on the counter, as a client invokes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterCall {
    /// So much is added.
    Add(u64),
    /// All is read.
    Read,
}

#[derive(Debug)]
pub struct CounterObject {
    value: u64,
    values: Values,
}

impl CounterObject {
    /// One at 0.
    pub fn new(options: &Options) -> Self {
        Self {
            value: 0,
            values: options.values,
        }
    }
}

impl SimulatedObject for CounterObject {
    type Op = CounterCall;

    fn draw(&mut self, _: usize, rng: &mut Rng) -> CounterCall {
        match (rng.bool(), self.values) {
            (true, _) => CounterCall::Read,
            (false, Values::Unique) => CounterCall::Add(1),
            (false, Values::Of(count)) => CounterCall::Add(rng.u64(1..=count)),
        }
    }

    fn request(op: &CounterCall) -> (&'static str, Value) {
        match *op {
            CounterCall::Add(what) => ("add", Value::from(what)),
            CounterCall::Read => ("read", Value::Nil),
        }
    }

    fn apply(&mut self, _: usize, op: &CounterCall) -> Option<Completion> {
        Some(Completion::Ok(match *op {
            CounterCall::Add(more) => {
                self.value += more;
                Value::from(more)
            }
            CounterCall::Read => Value::from(self.value),
        }))
    }

    fn may_be_late(&self, op: &CounterCall) -> bool {
        *op != CounterCall::Read
    }

    fn plant_by(clients: &mut GeneratedClients<Self>, client: usize, last: bool) -> bool {
        if clients.object.value == 0 {
            if last {
                clients.object.value += 1;
                clients.at_once(client, &CounterCall::Add(1), &Completion::Ok(Value::from(1_u64)));
            }
            return false;
        }
        let value = clients.object.value;
        for found in [value, value - 1] {
            clients.at_once(client, &CounterCall::Read, &Completion::Ok(Value::from(found)));
        }
        true
    }
}
