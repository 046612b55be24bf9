//! A simulated set, to which elements are added.

use crate::Value;
use crate::generate::clients::{Clients, Completion, Simulated};
use crate::generate::{DrawnValues, Options};
use fastrand::Rng;
use std::collections::BTreeSet;

/// Of so many operations on a set one is a read: each is answered with all elements.
const READS: u8 = 32;

/// An operation on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// This element is added.
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

/// The set, empty at first.
#[derive(Debug)]
pub struct Set {
    elements: BTreeSet<u64>,
    values: DrawnValues,
}

impl Set {
    /// An empty one.
    pub fn new(options: &Options) -> Self {
        Self {
            elements: BTreeSet::new(),
            values: DrawnValues::new(options.values),
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
        op.invocation()
    }

    fn apply(&mut self, _: usize, op: &Request) -> Option<Completion> {
        Some(Completion::Ok(match *op {
            Request::Add(element) => {
                self.elements.insert(element);
                Value::from(element)
            }
            Request::Read => self.elements.iter().map(|&element| Value::from(element)).collect(),
        }))
    }

    fn may_be_late(&self, op: &Request) -> bool {
        *op != Request::Read
    }

    fn plant_by(clients: &mut Clients<Self>, client: usize, _: bool) -> bool {
        let element = clients.object.values.unique();
        let without = Completion::Ok(
            clients
                .object
                .elements
                .iter()
                .map(|&element| Value::from(element))
                .collect(),
        );
        clients.at_once(client, &Request::Add(element), &Completion::Ok(Value::from(element)));
        clients.at_once(client, &Request::Read, &without);
        clients.object.elements.insert(element);
        true
    }
}
