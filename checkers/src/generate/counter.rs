//! A simulated counter.

use super::clients::{Answer, Clients, Simulated};
use super::{Options, Values};
use fastrand::Rng;
use serde_json::{Value, json};

/// The counter, 0 at first.
#[derive(Debug)]
pub struct Counter {
    value: u64,
    values: Values,
}

/// An operation on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// So much is added.
    Add(u64),
    /// It is read.
    Read,
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
        match *op {
            Request::Add(more) => ("add", json!(more)),
            Request::Read => ("read", Value::Null),
        }
    }

    fn apply(&mut self, _: usize, op: &Request) -> Option<Answer> {
        Some(Answer::Ok(match *op {
            Request::Add(more) => {
                self.value += more;
                json!(more)
            }
            Request::Read => json!(self.value),
        }))
    }

    fn told(&mut self, _: usize, _: &Request, _: Option<&Answer>) {}

    fn may_be_late(&self, op: &Request) -> bool {
        *op != Request::Read
    }

    fn plant(clients: &mut Clients<Self>, last: bool) -> bool {
        let Some(client) = clients.idle().next() else {
            return false;
        };
        if clients.object.value == 0 {
            if last {
                clients.object.value += 1;
                clients.at_once(client, &Request::Add(1), &Answer::Ok(json!(1)));
            }
            return false;
        }
        let value = clients.object.value;
        for found in [value, value - 1] {
            clients.at_once(client, &Request::Read, &Answer::Ok(json!(found)));
        }
        true
    }
}
