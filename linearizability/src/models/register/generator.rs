//! A simulated register.

use crate::Value;
use crate::generate::clients::{Clients, Completion, Simulated, Stage};
use crate::generate::{DrawnValues, Options};
use fastrand::Rng;

/// The register, empty at first.
#[derive(Debug)]
pub struct Register {
    value: Option<u64>,
    values: DrawnValues,
    with_cas: bool,
    /// The value of the planted violation, with the client that writes it and the one that reads it.
    planted: Option<(u64, usize, usize)>,
}

/// An operation on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It is read.
    Read,
    /// It is written.
    Write(u64),
    /// It is written if it has the first value.
    Cas(u64, u64),
}

impl Register {
    /// An empty one.
    pub fn new(options: &Options, with_cas: bool) -> Self {
        Self {
            value: None,
            values: DrawnValues::new(options.values),
            with_cas,
            planted: None,
        }
    }
}

impl Simulated for Register {
    type Op = Access;

    fn draw(&mut self, _: usize, rng: &mut Rng) -> Access {
        match (rng.u8(0..if self.with_cas { 3 } else { 2 }), self.value) {
            (0, _) => Access::Read,
            (2, Some(value)) => Access::Cas(value, self.values.draw(rng)),
            _ => Access::Write(self.values.draw(rng)),
        }
    }

    fn request(op: &Access) -> (&'static str, Value) {
        match *op {
            Access::Read => ("read", Value::Nil),
            Access::Write(to) => ("write", Value::from(to)),
            Access::Cas(from, to) => ("cas", [from, to].into_iter().map(Value::from).collect()),
        }
    }

    fn apply(&mut self, _: usize, op: &Access) -> Option<Completion> {
        let (_, asked) = Self::request(op);
        Some(match *op {
            Access::Read => Completion::Ok(Value::from(self.value)),
            Access::Cas(from, _) if self.value != Some(from) => Completion::Fail("mismatch"),
            Access::Write(to) | Access::Cas(_, to) => {
                self.value = Some(to);
                Completion::Ok(asked)
            }
        })
    }

    fn may_be_late(&self, op: &Access) -> bool {
        *op != Access::Read
    }

    fn plant(clients: &mut Clients<Self>, last: bool) -> bool {
        let Some((value, writer, reader)) = clients.object.planted else {
            if let [writer, reader] = clients.idle().take(2).collect::<Vec<_>>()[..] {
                begin(clients, writer, reader);
            }
            return false;
        };
        if !matches!(clients.stages[reader], Stage::Idle) {
            return false;
        }
        if clients.object.value == Some(value) && last {
            let write = Access::Write(clients.object.values.other(value));
            clients.try_at_once(reader, &write);
        }
        let found = clients.object.value;
        if found == Some(value) {
            return false;
        }
        for found in [found, Some(value)] {
            clients.at_once(reader, &Access::Read, &Completion::Ok(Value::from(found)));
        }
        let written = Completion::Ok(Value::from(value));
        clients.stages[writer] = Stage::Done(Access::Write(value), written);
        true
    }
}

/// Has one client write a value that no other client writes, and another one read it.
fn begin(clients: &mut Clients<Register>, writer: usize, reader: usize) {
    let value = clients.object.values.unique();
    let write = Access::Write(value);
    clients.invoke(writer, &write);
    let Some(written) = clients.object.apply(writer, &write) else {
        return;
    };
    clients.stages[writer] = Stage::Kept;
    clients.at_once(reader, &Access::Read, &written);
    clients.object.planted = Some((value, writer, reader));
}
