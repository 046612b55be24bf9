//! A model of one's own, a map from names to numbers, with a history that has an order and one that has none:
//! `cargo run -p zooquake-linearizability --example key_value`.

use std::collections::BTreeMap;
use zooquake_linearizability::{Budget, Model, Op, SearchDecision};

/// A map that is empty at first.
struct Map;

#[derive(Clone, PartialEq, Eq, Hash)]
enum MapOp {
    Put(&'static str, u32),
    Get(&'static str, Option<u32>),
}

impl Model for Map {
    type State = BTreeMap<&'static str, u32>;
    type Input = MapOp;

    fn initial(&self) -> Self::State {
        BTreeMap::new()
    }
    fn step(&self, map: &Self::State, op: &MapOp) -> Option<Self::State> {
        match *op {
            MapOp::Put(name, number) => Some(map.iter().map(|(&n, &v)| (n, v)).chain([(name, number)]).collect()),
            MapOp::Get(name, found) => (map.get(name).copied() == found).then(|| map.clone()),
        }
    }
    fn is_read(&self, op: &MapOp) -> bool {
        matches!(op, MapOp::Get(..))
    }
    fn after(&self, _: &MapOp) -> Option<Self::State> {
        None
    }
}

fn main() {
    let mut budget = Budget {
        steps: 1_000_000,
        bytes: 1 << 20,
        expired: &mut || false,
    };
    // The put may take effect between the two gets, which overlap it.
    let put = Op::done(MapOp::Put("a", 1), 0, 5);
    let gets = |found: [Option<u32>; 2]| found.map(|found| MapOp::Get("a", found));
    for found in [[None, Some(1)], [Some(1), None]] {
        let [first, second] = gets(found);
        let history = [put.clone(), Op::done(first, 1, 2), Op::done(second, 3, 4)];
        let decision = Map.decide(&history, &mut budget);
        println!("{found:?}: {decision:?}");
        assert_eq!(decision == SearchDecision::Linearizable, found == [None, Some(1)]);
    }
}
