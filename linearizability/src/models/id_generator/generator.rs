//! A simulated generator of ids.

use crate::generate::{Completion, GeneratedClients, SimulatedObject};
use crate::value::Value;
use fastrand::Rng;

#[derive(Debug, Default)]
pub struct Ids {
    next: u64,
}

/// An id is given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generate;

impl SimulatedObject for Ids {
    type Op = Generate;

    fn draw(&mut self, _: usize, _: &mut Rng) -> Generate {
        Generate
    }

    fn request(_: &Generate) -> (&'static str, Value) {
        ("generate", Value::Nil)
    }

    fn apply(&mut self, _: usize, _: &Generate) -> Option<Completion> {
        self.next += 1;
        Some(Completion::Ok(Value::from(self.next)))
    }

    fn plant_by(clients: &mut GeneratedClients<Self>, client: usize, _: bool) -> bool {
        clients.object.next += 1;
        let id = Completion::Ok(Value::from(clients.object.next));
        for _ in 0..2 {
            clients.at_once(client, &Generate, &id);
        }
        true
    }
}
