//! A generator of ids, each of which is given out once. A history is decided in time O(n): an order exists exactly if
//! no two operations that were answered got the same id. One of unknown outcome may have got any other.

use crate::model::{BrokenClaim, Model, NearLinearDecision, Op, contradiction, earliest};
use std::collections::HashMap;
use std::rc::Rc;

pub(crate) const DUPLICATE: BrokenClaim = BrokenClaim {
    kind: "duplicate-id",
    property: "ids are unique",
    says: "the same id was given out twice",
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
