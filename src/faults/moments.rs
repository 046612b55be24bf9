//! When a fault strikes a client, in words that a family's operations have: a commit votes where a lock's holder works.

use zooquake_checkers::plan::{State, Workload};

/// Milliseconds over which a coordinator's `decide` is struck, in as many steps as an acquire's first milliseconds.
const DECIDE_STEP_MS: u64 = 40;

/// How the operations of a family correspond to asking for a grant, working under it and giving it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moments {
    /// They are just that.
    Grants,
    /// Sites vote and learn the decision, the coordinator begins and decides.
    Commit,
    /// All enter, all leave.
    Rounds,
    /// Members join and close; who dies between the two leaves a znode to the next round.
    Members,
    /// Items are enqueued, dequeued and, in some variants, acknowledged.
    Items {
        /// What removes an item for good.
        removal: &'static str,
    },
    /// Any operation will do.
    Any,
}

impl Moments {
    /// Those of a workload.
    pub fn of(workload: &Workload) -> Self {
        match (workload.family.as_str(), workload.variant.as_str()) {
            ("lock" | "election", _) => Self::Grants,
            ("commit", _) => Self::Commit,
            ("barrier", "double") => Self::Rounds,
            ("barrier", "tutorial") => Self::Members,
            ("queue", "fifo") => Self::Items { removal: "dequeue" },
            ("queue", "claimed") => Self::Items { removal: "acknowledge" },
            _ => Self::Any,
        }
    }

    /// The family's own word for a state of a client of a lock, and for how long it must have lasted.
    pub fn translate(self, rng: &mut fastrand::Rng, state: State, after_ms: u64) -> (State, u64) {
        let asked = |f: &str, after_ms| (State::Asked(f.to_string()), after_ms);
        match (self, state) {
            (Self::Commit, State::Working) if rng.u32(0..3) == 0 => asked("decide", after_ms),
            (Self::Commit, State::Working) => asked("vote", after_ms),
            // While votes are still coming in, so that nobody but the coordinator could decide.
            (Self::Commit, State::Acquiring) => asked("decide", after_ms * DECIDE_STEP_MS),
            (Self::Commit, State::Waiting) => asked("decided", after_ms),
            (Self::Commit, State::Releasing) => asked("begin", after_ms),
            (Self::Rounds, State::Releasing) => asked("leave", after_ms),
            (Self::Rounds, _) => asked("enter", after_ms.min(60)),
            (Self::Members, State::Releasing) => asked("close", rng.u64(0..2)),
            (Self::Members, _) => asked("join", rng.u64(2..8)),
            (Self::Items { .. }, State::Working) => asked("dequeue", rng.u64(0..2)),
            (Self::Items { removal }, State::Releasing) => asked(removal, rng.u64(0..2)),
            (Self::Items { .. }, _) => asked("enqueue", rng.u64(0..2)),
            (Self::Grants | Self::Any, state) | (_, state @ State::Asked(_)) => (state, after_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(family: &str, variant: &str) -> Moments {
        Moments::of(&Workload {
            family: family.into(),
            variant: variant.into(),
            ..Workload::default()
        })
    }

    #[test]
    fn a_lock_keeps_its_own_states() {
        let mut rng = fastrand::Rng::with_seed(1);
        let kept = moments("lock", "fenced").translate(&mut rng, State::Working, 200);
        assert_eq!(kept, (State::Working, 200));
    }

    #[test]
    fn a_coordinator_is_struck_while_votes_come_in() {
        let mut rng = fastrand::Rng::with_seed(1);
        let struck = moments("commit", "atomic").translate(&mut rng, State::Acquiring, 5);
        assert_eq!(struck, (State::Asked("decide".into()), 200));
    }

    #[test]
    fn every_family_with_words_of_its_own_uses_them() {
        let mut rng = fastrand::Rng::with_seed(1);
        let all = [State::Acquiring, State::Working, State::Releasing, State::Waiting];
        for (family, variant) in [
            ("commit", "atomic"),
            ("queue", "fifo"),
            ("queue", "claimed"),
            ("barrier", "double"),
            ("barrier", "tutorial"),
        ] {
            for state in all.clone() {
                let (translated, _) = moments(family, variant).translate(&mut rng, state, 3);
                assert!(
                    matches!(translated, State::Asked(_)),
                    "{family}/{variant}: {translated:?}"
                );
            }
        }
    }
}
