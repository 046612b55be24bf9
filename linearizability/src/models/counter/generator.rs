//! A simulated counter.

use crate::Value;
use crate::generate::clients::{Clients, Completion, Simulated};
use crate::generate::{Options, Values};
use fastrand::Rng;

/// An operation on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// So much is added.
    Add(u64),
    /// All is read.
    Read,
}

impl Request {
    fn invocation(self) -> (&'static str, Value) {
        match self {
            Self::Add(what) => ("add", Value::from(what)),
            Self::Read => ("read", Value::Nil),
        }
    }
}

/// The counter.
#[derive(Debug)]
pub struct Counter {
    value: u64,
    values: Values,
}

impl Counter {
    /// One at 0.
    pub fn new(options: &Options) -> Self {
        Self {
            value: 0,
            values: options.values,
        }
    }
}

impl Simulated for Counter {
    type Op = Request;

    fn draw(&mut self, _: usize, rng: &mut Rng) -> Request {
        match (rng.bool(), self.values) {
            (true, _) => Request::Read,
            (false, Values::Unique) => Request::Add(1),
            (false, Values::Of(count)) => Request::Add(rng.u64(1..=count)),
        }
    }

    fn request(op: &Request) -> (&'static str, Value) {
        op.invocation()
    }

    fn apply(&mut self, _: usize, op: &Request) -> Option<Completion> {
        Some(Completion::Ok(match *op {
            Request::Add(more) => {
                self.value += more;
                Value::from(more)
            }
            Request::Read => Value::from(self.value),
        }))
    }

    fn may_be_late(&self, op: &Request) -> bool {
        *op != Request::Read
    }

    fn plant_by(clients: &mut Clients<Self>, client: usize, last: bool) -> bool {
        if clients.object.value == 0 {
            if last {
                clients.object.value += 1;
                clients.at_once(client, &Request::Add(1), &Completion::Ok(Value::from(1_u64)));
            }
            return false;
        }
        let value = clients.object.value;
        for found in [value, value - 1] {
            clients.at_once(client, &Request::Read, &Completion::Ok(Value::from(found)));
        }
        true
    }
}
