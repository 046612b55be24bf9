//! What was proposed, what was learned, and who was answered.

use super::violation::{ConsensusViolation, ViolationKind};

/// A request of the application.
#[derive(Debug, Clone, Copy)]
struct ValueRequest {
    place: usize,
    node: u8,
    value: u32,
    /// Where it was answered.
    answered: Option<usize>,
    /// Whether its node's process died before it was answered: nobody waits for the answer any more.
    abandoned: bool,
}

/// What a node made public as the chosen value.
#[derive(Debug, Clone, Copy)]
struct PublicValue {
    place: usize,
    node: u8,
    value: u32,
    /// The round in which it was chosen; `None` of an answer.
    round: Option<u32>,
}

/// The values of one run.
#[derive(Debug, Clone, Default)]
pub struct ChosenValues {
    requests: Vec<ValueRequest>,
    /// Whether one value is chosen in a run, so that an answer is what was chosen.
    single: bool,
    /// What was learned or, where one value is chosen, answered first.
    first: Option<PublicValue>,
    /// The nodes that have learned a value.
    learners: u32,
}

impl ChosenValues {
    /// Nothing is chosen yet; `single` is whether one value is in a run.
    pub fn new(single: bool) -> Self {
        Self {
            single,
            ..Self::default()
        }
    }

    /// The application asks a node for an operation.
    pub fn requested(&mut self, place: usize, node: u8, value: u32) {
        self.requests.push(ValueRequest {
            place,
            node,
            value,
            answered: None,
            abandoned: false,
        });
    }

    /// A node's process dies.
    pub fn died(&mut self, node: u8) {
        let pending = self.requests.iter_mut().filter(|request| request.node == node);
        for request in pending.filter(|request| request.answered.is_none()) {
            request.abandoned = true;
        }
    }

    /// A learner learns a value, chosen in a round; the violation if it is not the one that was learned before, or was
    /// never proposed.
    pub fn learned(&mut self, place: usize, node: u8, (value, round): (u32, u32)) -> Option<ConsensusViolation> {
        self.learners |= 1 << node;
        if self.requests.iter().all(|request| request.value != value) {
            return Some(invalid(place, node, value));
        }
        self.public(PublicValue {
            place,
            node,
            value,
            round: Some(round),
        })
    }

    /// A node makes the chosen value public; the violation if another one was before.
    fn public(&mut self, public: PublicValue) -> Option<ConsensusViolation> {
        let first = *self.first.get_or_insert(public);
        (first.value != public.value).then(|| ConsensusViolation {
            kind: ViolationKind::Disagreement {
                nodes: (first.node, public.node),
                values: ((first.value, first.round), (public.value, public.round)),
            },
            witness: vec![first.place, public.place],
        })
    }

    /// A client's node is answered with a value; the violation if that was never asked for, or, where one value is
    /// chosen, is not the one that was made public before.
    pub fn answered(&mut self, place: usize, node: u8, value: u32) -> Option<ConsensusViolation> {
        if self.requests.iter().all(|request| request.value != value) {
            return Some(invalid(place, node, value));
        }
        let own = self.requests.iter_mut().filter(|request| request.node == node);
        let mut pending: Vec<_> = own.filter(|request| request.answered.is_none()).collect();
        // A log answers each message by itself; of a proposal whichever value was chosen is the answer.
        let exact = pending.iter().position(|request| request.value == value);
        if let Some(request) = pending.get_mut(exact.unwrap_or(0)) {
            request.answered = Some(place);
        }
        let round = None;
        self.single
            .then_some(PublicValue {
                place,
                node,
                value,
                round,
            })
            .and_then(|answer| self.public(answer))
    }

    /// The nodes that lack something: clients' nodes whose processes wait for an answer, and of these learners those
    /// that have learned nothing. The latter lack nothing while nobody has learned anything and every request was
    /// abandoned: it may have died with its process.
    pub fn lacking(&self, learners: u32) -> u32 {
        let waiting = self.waiting().fold(0, |nodes, request| nodes | 1 << request.node);
        let kept = self.first.is_some() || self.requests.iter().any(|request| !request.abandoned);
        let learners = if kept { learners } else { 0 };
        (learners & !self.learners) | waiting
    }

    /// The places of the requests that wait for an answer.
    pub fn pending(&self) -> Vec<usize> {
        self.waiting().map(|request| request.place).collect()
    }

    /// The values that were answered to whom asked for them, each with the place of the answer.
    pub fn acknowledged(&self) -> impl Iterator<Item = (u32, usize)> {
        self.requests
            .iter()
            .filter_map(|request| Some((request.value, request.answered?)))
    }

    fn waiting(&self) -> impl Iterator<Item = &ValueRequest> {
        let waits = |request: &&ValueRequest| request.answered.is_none() && !request.abandoned;
        self.requests.iter().filter(waits)
    }
}

fn invalid(place: usize, node: u8, value: u32) -> ConsensusViolation {
    ConsensusViolation {
        kind: ViolationKind::InvalidValue { node, value },
        witness: vec![place],
    }
}
