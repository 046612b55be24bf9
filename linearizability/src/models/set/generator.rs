//! A simulated set, to which elements are added.

use crate::generate::{Completion, DrawnValues, GeneratedClients, Options, SimulatedObject};
use crate::value::Value;
use fastrand::Rng;
use std::collections::BTreeSet;

/// Of so many operations on a set one is a read: each is answered with all elements.
const READS: u8 = 32;

/// An operation on the set, as a client invokes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetCall {
    /// This element is added.
    Add(u64),
    /// All is read.
    Read,
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

impl SimulatedObject for Set {
    type Op = SetCall;

    fn draw(&mut self, _: usize, rng: &mut Rng) -> SetCall {
        match rng.u8(0..READS) {
            0 => SetCall::Read,
            _ => SetCall::Add(self.values.draw(rng)),
        }
    }

    fn request(op: &SetCall) -> (&'static str, Value) {
        match *op {
            SetCall::Add(what) => ("add", Value::from(what)),
            SetCall::Read => ("read", Value::Nil),
        }
    }

    fn apply(&mut self, _: usize, op: &SetCall) -> Option<Completion> {
        Some(Completion::Ok(match *op {
            SetCall::Add(element) => {
                self.elements.insert(element);
                Value::from(element)
            }
            SetCall::Read => self.elements.iter().map(|&element| Value::from(element)).collect(),
        }))
    }

    fn may_be_late(&self, op: &SetCall) -> bool {
        *op != SetCall::Read
    }

    fn plant_by(clients: &mut GeneratedClients<Self>, client: usize, _: bool) -> bool {
        let element = clients.object.values.unique();
        let without = Completion::Ok(
            clients
                .object
                .elements
                .iter()
                .map(|&element| Value::from(element))
                .collect(),
        );
        clients.at_once(client, &SetCall::Add(element), &Completion::Ok(Value::from(element)));
        clients.at_once(client, &SetCall::Read, &without);
        clients.object.elements.insert(element);
        true
    }
}
