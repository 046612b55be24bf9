//! The owner of the next step, where several could take one.
//!
//! A walk draws it, and how long messages take. The other two take messages to take the same time all, and choose: of
//! the parties that have a step to take within [`WINDOW`] of the first one, the one of the highest priority takes its
//! own, and the others are late by that. So none is late by more than the window, which is less than what any timeout
//! notices.

use std::collections::BTreeMap;
use std::time::Duration;

use zooquake_history::plan::Scheduler as Planned;

use super::agenda::{AgendaPlace, StepOwner};

/// How late a step may be for another one that was due after it.
pub(super) const WINDOW: Duration = Duration::from_millis(20);

/// How it is decided.
pub(super) enum Scheduler {
    /// The one that is due first, and of several ready tasks the one that waited longest.
    InOrder,
    /// Drawn.
    Walk,
    /// Chosen by priorities.
    Priorities(Priorities),
}

impl Scheduler {
    /// The scheduler of a plan, whose points and priorities come from this randomness.
    pub(super) fn new(planned: &Planned, rng: &mut fastrand::Rng) -> Self {
        let (points, drawn) = match planned {
            // A script is of networks alone.
            Planned::Walk | Planned::Script(_) => return Self::Walk,
            Planned::Pct { depth, steps } => {
                let points = (1..*depth).map(|_| rng.u32(..(*steps).max(1)));
                (points.collect(), Some(fastrand::Rng::with_seed(rng.u64(..))))
            }
            Planned::Delays(delays) => (delays.clone(), None),
        };
        Self::Priorities(Priorities {
            points,
            drawn,
            of: BTreeMap::new(),
            lowest: 0,
            steps: 0,
            open: false,
        })
    }
}

/// Priorities of parties, and the steps at which they fall.
pub(super) struct Priorities {
    /// The steps at which the party that would take it falls to the lowest priority.
    points: Vec<u32>,
    /// What the priorities are drawn from; `None` where all are equal, and one that has fallen rises when it has taken
    /// a step.
    drawn: Option<fastrand::Rng>,
    of: BTreeMap<StepOwner, i64>,
    lowest: i64,
    /// Steps that were chosen: those for which another party could have taken one.
    pub(super) steps: u32,
    /// Whether it chooses; otherwise everything happens in the order of time.
    pub(super) open: bool,
}

impl Priorities {
    pub(super) fn open(&mut self, open: bool) {
        self.open = open;
        if self.drawn.is_none() {
            self.of.clear();
        }
    }

    fn priority(&mut self, party: StepOwner) -> i64 {
        let drawn = &mut self.drawn;
        // Above all that have fallen.
        *self
            .of
            .entry(party)
            .or_insert_with(|| drawn.as_mut().map_or(0, |rng| 1 + i64::from(rng.u32(..))))
    }

    /// The highest, and of equal ones the one that is due first.
    fn highest(&mut self, enabled: &[(AgendaPlace, StepOwner)]) -> usize {
        let mut best = (0, i64::MIN);
        for (at, (_, party)) in enabled.iter().enumerate() {
            let priority = self.priority(*party);
            if priority > best.1 {
                best = (at, priority);
            }
        }
        best.0
    }

    /// Which of these takes its step.
    pub(super) fn choose(&mut self, enabled: &[(AgendaPlace, StepOwner)]) -> usize {
        let mut chosen = 0;
        if enabled.len() > 1 {
            chosen = self.highest(enabled);
            if self.points.contains(&self.steps) {
                self.lowest -= 1;
                self.of.insert(enabled[chosen].1, self.lowest);
                chosen = self.highest(enabled);
            }
            self.steps += 1;
        }
        if self.drawn.is_none() {
            self.of.remove(&enabled[chosen].1);
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zk::sim::agenda::{Agenda, AgendaTask};

    fn enabled(parties: &[(u64, usize)]) -> Vec<(AgendaPlace, StepOwner)> {
        let mut agenda = Agenda::default();
        for (at, party) in parties {
            let number = agenda.number();
            agenda.add(
                (Duration::from_millis(*at), number),
                Some(*party),
                AgendaTask::Act(Box::new(|| {})),
            );
        }
        let mut enabled = Vec::new();
        agenda.enabled(WINDOW, &mut enabled);
        enabled
    }

    fn priorities(planned: &Planned, seed: u64) -> Priorities {
        match Scheduler::new(planned, &mut fastrand::Rng::with_seed(seed)) {
            Scheduler::Priorities(mut priorities) => {
                priorities.open(true);
                priorities
            }
            _ => panic!("{planned:?} chooses"),
        }
    }

    #[test]
    fn one_of_each_party_is_enabled_within_the_window() {
        let of = |parties: &[(u64, usize)]| -> Vec<usize> {
            enabled(parties).into_iter().filter_map(|(_, party)| party).collect()
        };
        assert_eq!(of(&[(7, 1), (3, 2), (5, 1), (4, 2)]), [2, 1]);
        assert_eq!(of(&[(3, 1), (23, 2), (24, 3)]), [1, 2]);
    }

    #[test]
    fn the_order_of_time_holds_but_at_a_delay_and_until_the_delayed_one_is_alone() {
        let (both, one) = (enabled(&[(1, 1), (2, 2)]), enabled(&[(1, 1)]));
        let mut plain = priorities(&Planned::Delays(vec![]), 0);
        assert_eq!([plain.choose(&both), plain.choose(&both)], [0, 0]);
        let mut delays = priorities(&Planned::Delays(vec![1]), 0);
        let chosen = [&both, &both, &both, &one, &both].map(|enabled| delays.choose(enabled));
        assert_eq!(chosen, [0, 1, 1, 0, 0]);
        assert_eq!(
            delays.steps, 4,
            "a step that nobody else could have taken is not counted"
        );
    }

    /// Of two parties each is the first with the same probability, and a point turns them around.
    #[test]
    fn priorities_are_drawn_and_fall_at_the_points() {
        let both = enabled(&[(1, 1), (2, 2)]);
        let first = |seed| priorities(&Planned::Pct { depth: 1, steps: 9 }, seed).choose(&both);
        let later = (0..1_000).filter(|seed| first(*seed) == 1).count();
        assert!((400..600).contains(&later), "{later}");
        for seed in 0..100 {
            let mut falling = priorities(&Planned::Pct { depth: 2, steps: 9 }, seed);
            let chosen: Vec<usize> = (0..9).map(|_| falling.choose(&both)).collect();
            let turns = chosen.windows(2).filter(|two| two[0] != two[1]).count();
            assert!(turns <= 1, "{chosen:?}");
        }
    }
}
