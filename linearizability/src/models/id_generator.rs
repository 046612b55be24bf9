//! Generators of ids, each of which is given out once: `generate`, answered with one. A history is decided in time
//! O(n): an order exists exactly if no two operations that were answered got the same id. One of unknown outcome may
//! have got any other.

use crate::call::{CallOutcome, Reading};
use crate::equality::ValueNumbers;
use crate::generate::{Completion, GeneratedClients, GeneratedLoad, SimulatedObject, Simulation, one_client, simulate};
use crate::judgement::{StateNames, decide};
use crate::model::{BrokenClaim, Model, NearLinearDecision, Op, contradiction, earliest};
use crate::models::{ModelEntry, ModelFit, ModelSize};
use crate::value::Value;
use fastrand::Rng;
use std::collections::HashMap;
use std::rc::Rc;

const DUPLICATE: BrokenClaim = BrokenClaim {
    kind: "duplicate-id",
    property: "ids are unique",
    says: "the same id was given out twice",
};

/// Generators each of whose ids is given out once.
pub static GENERATORS: ModelEntry = ModelEntry {
    names: &["id-generator", "unique-ids"],
    summary: "generate, answered with an id that no other is answered with",
    operations: &["generate"],
    size: ModelSize::Fixed,
    begins: Some("no id is given out at first"),
    // What is added, only its reads show.
    fits: |operations| ModelFit::shown_if(operations.any(&["generate"]) && !operations.any(&["add"])),
    simulations: &[Simulation {
        name: "id-generator",
        clients: one_client,
        loads: &[GeneratedLoad::COMMON],
        run: |options, _| simulate(options, Ids::default()),
    }],
    judge: |model, calls, _, _, inquiry| {
        let (mut reading, mut values) = (Reading::new(), ValueNumbers::default());
        for &call in calls {
            if call.f != "generate" {
                return Err(model.unable(call));
            }
            if call.outcome == CallOutcome::Ok && !call.answered.is_nil() {
                let id = values.number(&call.answered, || format!("the id of event {}", call.invoke))?;
                reading.add(call, GeneratedId(id));
            }
        }
        let words = |given: &Rc<[u32]>, names: &StateNames<'_, '_>| match given.len() {
            0 => "no id given out".to_owned(),
            _ => format!("given out: {}", names.list(given.iter().map(|&id| values.value(id)))),
        };
        Ok(decide(DUPLICATE, &IdGenerator, reading, &words, inquiry))
    },
};

/// The generator. Its state is the set of the ids that were given out, ascending.
#[derive(Debug, Clone, Copy)]
pub struct IdGenerator;

/// This id was given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GeneratedId(pub u32);

impl Model for IdGenerator {
    type State = Rc<[u32]>;
    type Input = GeneratedId;

    fn initial(&self) -> Rc<[u32]> {
        Rc::default()
    }

    fn step(&self, given: &Rc<[u32]>, input: &GeneratedId) -> Option<Rc<[u32]>> {
        let at = given.binary_search(&input.0).err()?;
        let mut given = given.to_vec();
        given.insert(at, input.0);
        Some(given.into())
    }

    fn heap(&self, given: &Rc<[u32]>) -> usize {
        size_of_val(&**given)
    }

    fn near(&self, ops: &[Op<GeneratedId>]) -> NearLinearDecision {
        let mut answered: Vec<usize> = (0..ops.len()).filter(|&op| ops[op].must()).collect();
        answered.sort_unstable_by_key(|&op| ops[op].complete);
        let mut given: HashMap<u32, usize> = HashMap::new();
        let found = answered
            .into_iter()
            .find_map(|op| Some((given.insert(ops[op].input.0, op)?, op)))
            .map(|(one, other)| contradiction(ops, vec![one, other], &DUPLICATE));
        earliest(ops, found).map_or(NearLinearDecision::Linearizable, NearLinearDecision::Not)
    }
}

/// A simulated generator.
#[derive(Debug, Default)]
struct Ids {
    next: u64,
}

/// An id is given out by a simulated generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Generate;

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
