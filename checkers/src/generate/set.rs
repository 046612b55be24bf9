//! A simulated set, to which elements are added.

use super::Options;
use super::clients::{Answer, Clients, Simulated};
use super::drawn::Drawn;
use fastrand::Rng;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Of so many operations one is a read: each is answered with all elements.
const READS: u8 = 32;

/// The set, empty at first.
#[derive(Debug)]
pub struct Set {
    elements: BTreeSet<u64>,
    values: Drawn,
}

/// An operation on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// This is added.
    Add(u64),
    /// All are read.
    Read,
}

impl Set {
    /// An empty one.
    pub fn new(options: &Options) -> Self {
        Self {
            elements: BTreeSet::new(),
            values: Drawn::new(options.values),
        }
    }
}

impl Simulated for Set {
    type Op = Request;

    fn draw(&mut self, _: usize, rng: &mut Rng) -> Request {
        match rng.u8(0..READS) {
            0 => Request::Read,
            _ => Request::Add(self.values.draw(rng)),
        }
    }

    fn request(op: &Request) -> (&'static str, Value) {
        match *op {
            Request::Add(element) => ("add", json!(element)),
            Request::Read => ("read", Value::Null),
        }
    }

    fn apply(&mut self, _: usize, op: &Request) -> Option<Answer> {
        Some(Answer::Ok(match *op {
            Request::Add(element) => {
                self.elements.insert(element);
                json!(element)
            }
            Request::Read => json!(self.elements),
        }))
    }

    fn told(&mut self, _: usize, _: &Request, _: Option<&Answer>) {}

    fn may_be_late(&self, op: &Request) -> bool {
        *op != Request::Read
    }

    fn plant(clients: &mut Clients<Self>, _: bool) -> bool {
        let Some(client) = clients.idle().next() else {
            return false;
        };
        let element = clients.object.values.unique();
        let without = Answer::Ok(json!(clients.object.elements));
        clients.at_once(client, &Request::Add(element), &Answer::Ok(json!(element)));
        clients.at_once(client, &Request::Read, &without);
        clients.object.elements.insert(element);
        true
    }
}
