//! A simulated register.

use crate::generate::{ClientStage, Completion, DrawnValues, GeneratedClients, Options, SimulatedObject};
use crate::value::Value;
use fastrand::Rng;

/// The register, empty at first.
#[derive(Debug)]
pub struct RegisterObject {
    value: Option<u64>,
    values: DrawnValues,
    with_cas: bool,
    /// The value of the planted violation, with the client that writes it and the one that reads it.
    planted: Option<(u64, usize, usize)>,
}

/// An operation on the register, as a client invokes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterCall {
    /// A read, which has no argument.
    Read,
    /// A write of this value.
    Write(u64),
    /// It is written if it has the first value.
    Cas(u64, u64),
}

impl RegisterObject {
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

impl SimulatedObject for RegisterObject {
    type Op = RegisterCall;

    fn draw(&mut self, _: usize, rng: &mut Rng) -> RegisterCall {
        match (rng.u8(0..if self.with_cas { 3 } else { 2 }), self.value) {
            (0, _) => RegisterCall::Read,
            (2, Some(value)) => RegisterCall::Cas(value, self.values.draw(rng)),
            _ => RegisterCall::Write(self.values.draw(rng)),
        }
    }

    fn request(op: &RegisterCall) -> (&'static str, Value) {
        match *op {
            RegisterCall::Read => ("read", Value::Nil),
            RegisterCall::Write(to) => ("write", Value::from(to)),
            RegisterCall::Cas(from, to) => ("cas", [from, to].into_iter().map(Value::from).collect()),
        }
    }

    fn apply(&mut self, _: usize, op: &RegisterCall) -> Option<Completion> {
        let (_, asked) = Self::request(op);
        Some(match *op {
            RegisterCall::Read => Completion::Ok(Value::from(self.value)),
            RegisterCall::Cas(from, _) if self.value != Some(from) => Completion::Fail("mismatch"),
            RegisterCall::Write(to) | RegisterCall::Cas(_, to) => {
                self.value = Some(to);
                Completion::Ok(asked)
            }
        })
    }

    fn may_be_late(&self, op: &RegisterCall) -> bool {
        *op != RegisterCall::Read
    }

    fn plant(clients: &mut GeneratedClients<Self>, last: bool) -> bool {
        let Some((value, writer, reader)) = clients.object.planted else {
            if let [writer, reader] = clients.idle().take(2).collect::<Vec<_>>()[..] {
                begin(clients, writer, reader);
            }
            return false;
        };
        if !matches!(clients.stages[reader], ClientStage::Idle) {
            return false;
        }
        if clients.object.value == Some(value) && last {
            let write = RegisterCall::Write(clients.object.values.other(value));
            clients.try_at_once(reader, &write);
        }
        let found = clients.object.value;
        if found == Some(value) {
            return false;
        }
        for found in [found, Some(value)] {
            clients.at_once(reader, &RegisterCall::Read, &Completion::Ok(Value::from(found)));
        }
        clients.stages[writer] = ClientStage::Done(RegisterCall::Write(value), Completion::Ok(Value::from(value)));
        true
    }
}

/// Has one client write a value that no other client writes, and another one read it.
fn begin(clients: &mut GeneratedClients<RegisterObject>, writer: usize, reader: usize) {
    let value = clients.object.values.unique();
    let write = RegisterCall::Write(value);
    clients.invoke(writer, &write);
    let Some(written) = clients.object.apply(writer, &write) else {
        return;
    };
    clients.stages[writer] = ClientStage::Kept;
    clients.at_once(reader, &RegisterCall::Read, &written);
    clients.object.planted = Some((value, writer, reader));
}
