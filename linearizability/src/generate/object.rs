//! What is simulated.

use super::{GeneratedEvent, GeneratedLoad, Options};
use crate::models::entry::{Simulation, named_number, write_named};
use crate::models::registry::simulations;
use std::fmt;
use std::str::FromStr;

/// An object that is simulated: one of the models, with the number that it takes.
#[derive(Clone, Copy)]
pub struct Object {
    simulation: &'static Simulation,
    size: u32,
}

impl Object {
    /// All of them, with the numbers of their models' examples.
    pub fn all() -> impl Iterator<Item = Self> {
        simulations().map(|(model, simulation)| Self {
            simulation,
            size: model.size.tried(),
        })
    }

    /// The names of all, with an `N` where a number is (`semaphore:N`).
    pub fn names() -> impl Iterator<Item = String> {
        simulations().map(|(model, simulation)| model.size.named(simulation.name))
    }

    /// Its name, without the number.
    pub fn name(self) -> &'static str {
        self.simulation.name
    }

    /// Its number: permits, or members; 0 if it takes none.
    pub fn size(self) -> u32 {
        self.size
    }

    /// The loads under which checks of its histories are measured.
    pub fn loads(self) -> &'static [GeneratedLoad] {
        self.simulation.loads
    }

    /// How many clients it needs, also for a violation.
    pub fn clients(self, violation: bool) -> usize {
        (self.simulation.clients)(self.size, violation)
    }

    pub(super) fn generate(self, options: &Options) -> Vec<GeneratedEvent> {
        (self.simulation.run)(options, self.size)
    }
}

impl FromStr for Object {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, number) = named_number(text);
        let size = number.map_or(Some(0), |number| number.parse().ok().filter(|&size| size > 0));
        let named = size.and_then(|size| {
            let (_, simulation) =
                simulations().find(|(model, simulation)| simulation.name == name && model.size.generates(size))?;
            Some(Self { simulation, size })
        });
        named.ok_or_else(|| {
            let known: Vec<String> = Self::all().map(|object| object.to_string()).collect();
            format!(
                "there is no model `{text}` to generate; there are {} (or another number)",
                known.join(", ")
            )
        })
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_named(f, self.name(), self.size)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.size == other.size
    }
}

impl Eq for Object {}
