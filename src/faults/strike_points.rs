//! When a fault strikes a client: its state in a lock, as an operation of its own family.

use zooquake_history::operation::{self, Delay, OpSpec, StrikePoint};
use zooquake_history::plan::{ClientState, Workload};

/// The operation of the workload's family in or after which a fault strikes that is to strike in a state, and how long
/// after it was sent or answered, in milliseconds. The state itself in a family that grants, and in one without strike
/// points.
pub fn translate(
    rng: &mut fastrand::Rng,
    workload: &Workload,
    state: ClientState,
    after_ms: u64,
) -> (ClientState, u64) {
    let (capabilities, family) = (workload.capabilities(), operation::family(&workload.family));
    let ops = family.map_or(&[][..], |family| family.ops);
    let struck = ops.iter().flat_map(|op| op.struck.iter().map(move |point| (op, point)));
    let struck: Vec<(&OpSpec, &StrikePoint)> = struck
        .filter(|(_, point)| point.state == state && (point.of)(&capabilities))
        .collect();
    let Some((op, point)) = drawn(rng, &struck) else {
        return (state, after_ms);
    };
    let delay_ms = match point.delay {
        Delay::Same => after_ms,
        Delay::Times(factor) => after_ms * factor,
        Delay::AtMost(most) => after_ms.min(most),
        Delay::Between(least, below) => rng.u64(least..below),
    };
    let f = op.f.to_string();
    let state = match point.answered {
        true => ClientState::Answered(f),
        false => ClientState::Asked(f),
    };
    (state, delay_ms)
}

/// One of several, by their shares; `None` of none.
fn drawn<'a>(
    rng: &mut fastrand::Rng,
    struck: &[(&'a OpSpec, &'a StrikePoint)],
) -> Option<(&'a OpSpec, &'a StrikePoint)> {
    let sum = struck.iter().map(|(_, point)| point.share).sum();
    let mut left = if struck.len() > 1 { rng.u32(0..sum) } else { 0 };
    struck.iter().copied().find(|(_, point)| {
        let this = left < point.share;
        left = left.saturating_sub(point.share);
        this
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use zooquake_workloads::recipes;

    fn struck(family: &str, variant: &str, state: ClientState, after_ms: u64) -> (ClientState, u64) {
        let workload = recipes::workload(family, variant).expect("a variant");
        translate(&mut fastrand::Rng::with_seed(1), &workload, state, after_ms)
    }

    #[test]
    fn a_lock_keeps_its_own_states() {
        assert_eq!(
            struck("lock", "fenced", ClientState::Working, 200),
            (ClientState::Working, 200)
        );
    }

    #[test]
    fn a_coordinator_is_struck_while_votes_come_in() {
        let decide = ClientState::Asked("decide".into());
        assert_eq!(struck("commit", "atomic", ClientState::Acquiring, 5), (decide, 200));
    }

    #[test]
    fn every_state_strikes_an_operation_of_a_family_without_grants() {
        let all = [
            ClientState::Acquiring,
            ClientState::Working,
            ClientState::Releasing,
            ClientState::Waiting,
        ];
        for (family, variant) in [
            ("commit", "atomic"),
            ("queue", "fifo"),
            ("queue", "claimed"),
            ("barrier", "double"),
            ("barrier", "tutorial"),
            ("barrier", "gate"),
        ] {
            for state in all.clone() {
                let (translated, _) = struck(family, variant, state, 3);
                let named = match &translated {
                    ClientState::Asked(_) => true,
                    ClientState::Answered(f) => {
                        matches!((variant, f.as_str()), ("tutorial", "join") | ("gate", "raise"))
                    }
                    _ => false,
                };
                assert!(named, "{family}/{variant}: {translated:?}");
            }
        }
    }

    #[test]
    fn a_consumer_works_while_it_dequeues_and_while_it_acknowledges() {
        for (variant, expected) in [("fifo", &["dequeue"][..]), ("claimed", &["acknowledge", "dequeue"])] {
            let workload = recipes::workload("queue", variant).expect("a variant");
            let mut rng = fastrand::Rng::with_seed(1);
            let asked: BTreeSet<String> = (0..50)
                .map(|_| translate(&mut rng, &workload, ClientState::Working, 200).0)
                .map(|state| match state {
                    ClientState::Asked(f) => f,
                    other => panic!("{other:?}"),
                })
                .collect();
            assert!(asked.iter().eq(expected), "{variant}: {asked:?}");
        }
    }

    #[test]
    fn a_member_is_struck_while_it_joins_and_after_it_has_joined() {
        let workload = recipes::workload("barrier", "tutorial").expect("a variant");
        let mut rng = fastrand::Rng::with_seed(1);
        let (asked, answered): (Vec<ClientState>, Vec<ClientState>) = (0..50)
            .map(|_| translate(&mut rng, &workload, ClientState::Working, 200).0)
            .partition(|state| *state == ClientState::Asked("join".into()));
        assert!(!asked.is_empty() && !answered.is_empty());
        assert!(
            answered
                .iter()
                .all(|state| *state == ClientState::Answered("join".into()))
        );
    }

    #[test]
    fn what_removes_an_item_for_good_is_struck_as_a_release() {
        let of = |variant| struck("queue", variant, ClientState::Releasing, 0).0;
        assert_eq!(of("fifo"), ClientState::Asked("dequeue".into()));
        assert_eq!(of("claimed"), ClientState::Asked("acknowledge".into()));
    }
}
