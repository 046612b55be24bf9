//! The configurations a search has been in: which operations are done, and the state they left.

use std::collections::HashMap;

/// What a configuration holds beside the operations with a completion that are done.
#[derive(Debug)]
struct VisitedState<S> {
    state: S,
    /// The operations of unknown outcome that took effect.
    used: Box<[u64]>,
}

/// The table. Keys are whole sets, not hashes of them: a collision would convict the innocent.
#[derive(Debug)]
pub struct VisitedConfigurations<S> {
    table: HashMap<Box<[u64]>, Vec<VisitedState<S>>>,
    /// Bytes that it takes, estimated from above.
    pub bytes: usize,
}

impl<S: Clone + Eq> VisitedConfigurations<S> {
    pub fn new() -> Self {
        Self {
            table: HashMap::new(),
            bytes: 0,
        }
    }

    /// Adds a configuration; returns whether it is worth going on from: not if one is known with the same operations
    /// done, the same state, and none used but such as are used here. The state owns `heap` bytes.
    pub fn insert(&mut self, done: &[u64], used: &[u64], state: &S, heap: usize) -> bool {
        // What an allocation costs beside its contents, and how far vectors and the table are ahead of what is in them:
        // a table that has just grown is filled to 7/16, and until it has, the one before, half as large, is there too.
        const ALLOCATION: usize = 16;
        const AHEAD: usize = 2;
        const TABLE: usize = 4;
        let each = |used: &[u64]| AHEAD * size_of::<VisitedState<S>>() + size_of_val(used) + heap + ALLOCATION;
        let left = VisitedState {
            state: state.clone(),
            used: used.into(),
        };
        let Some(known) = self.table.get_mut(done) else {
            let entry = TABLE * (size_of::<(Box<[u64]>, Vec<VisitedState<S>>)>() + 1) + size_of_val(done);
            self.bytes += entry + 2 * ALLOCATION + each(used);
            self.table.insert(done.into(), vec![left]);
            return true;
        };
        let covers = |other: &VisitedState<S>| other.state == *state && within(&other.used, used);
        if known.iter().any(covers) {
            return false;
        }
        known.retain(|other| {
            let superseded = other.state == *state && within(used, &other.used);
            if superseded {
                self.bytes -= each(&other.used);
            }
            !superseded
        });
        self.bytes += each(used);
        known.push(left);
        true
    }
}

/// Whether one set is within another; neither has an empty end.
fn within(small: &[u64], large: &[u64]) -> bool {
    small.len() <= large.len() && small.iter().zip(large).all(|(small, large)| small & !large == 0)
}
