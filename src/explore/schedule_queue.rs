//! The queue of schedules, from which each thread takes the one that it plays next.

use super::corpus::ExploredSchedules;
use super::space::{ResolvedSpace, Search, Space};
use crate::campaign::shard::Shard;
use crate::run::simulation;
use anyhow::Result;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use zooquake_history::plan::{Plan, Scheduler};

/// How many plans are played to learn how many steps a schedule has.
const PROBES: u64 = 3;

/// How many steps are chosen in a schedule of this space: the most of a few, which are the same for all of its shards.
///
/// # Errors
/// If one cannot be simulated.
pub fn steps(space: &ResolvedSpace) -> Result<u32> {
    let mut most = 1;
    for number in 0..PROBES {
        let scheduler = Scheduler::Delays(Vec::new());
        let case = space.case(space.space.seed.wrapping_add(number));
        let case = case.changed(|plan| Plan { scheduler, ..plan });
        most = simulation::record_steps(&case)?.1.max(most);
    }
    Ok(most)
}

/// A schedule to be played.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Schedule {
    /// The seed of its plan.
    pub seed: u64,
    /// What decides the order in which things happen.
    pub scheduler: Scheduler,
}

/// What a thread does next.
pub enum QueueStep {
    Play(Schedule),
    /// It asks again in a moment: what others play now may leave something to be played.
    Wait,
    /// Nothing is left.
    Over,
}

/// The turns of an exploration.
pub struct ScheduleQueue<'a> {
    space: &'a Space,
    shard: Shard,
    /// What was explored before.
    before: ExploredSchedules,
    /// So many schedules at most.
    schedules: Option<u64>,
    /// Of an exhaustive exploration: so many plans at most.
    plans: Option<u64>,
    /// How many steps a schedule is taken to have by one that draws priorities.
    steps: u32,
    /// The next position of the shard.
    next: AtomicU64,
    begun: AtomicU64,
    /// The position that each thread is at; the highest number while it is at none.
    at: Vec<AtomicU64>,
    tree: Mutex<ScheduleTree>,
}

/// The schedules of one plan that an exhaustive exploration has yet to play. Each is named by the steps that it delays;
/// those that delay one more, later, are known when it was played and its steps were counted.
#[derive(Default)]
struct ScheduleTree {
    seed: Option<u64>,
    left: Vec<Vec<u32>>,
    playing: usize,
    /// Plans of which every schedule was played.
    exhausted: u64,
}

impl<'a> ScheduleQueue<'a> {
    /// The turns of so many threads through this part of a space, of which this was done before; `steps` is for
    /// schedules that draw priorities.
    pub fn new(
        (space, shard, before): (&'a Space, Shard, ExploredSchedules),
        (schedules, plans): (Option<u64>, Option<u64>),
        (threads, steps): (usize, u32),
    ) -> Self {
        Self {
            space,
            shard,
            before,
            schedules,
            plans,
            steps,
            next: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            at: (0..threads).map(|_| AtomicU64::new(u64::MAX)).collect(),
            tree: Mutex::default(),
        }
    }

    fn tree(&self) -> MutexGuard<'_, ScheduleTree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All positions before this one were explored.
    pub fn until(&self) -> u64 {
        // The next one first: a thread takes it from there, and is at it later.
        let next = self.next.load(Ordering::SeqCst);
        self.at.iter().map(|at| at.load(Ordering::SeqCst)).fold(next, u64::min)
    }

    /// Plans of which every schedule within the bound was played; `None` where schedules are drawn.
    pub fn exhausted(&self) -> Option<u64> {
        matches!(self.space.search, Search::Exhaustive { .. }).then(|| self.tree().exhausted)
    }

    /// What a thread plays next, until it reports that it has played it.
    pub fn next(&self, thread: usize) -> QueueStep {
        let scheduler = match self.space.search {
            Search::Exhaustive { .. } => return self.next_of_tree(),
            Search::Walk => Scheduler::Walk,
            Search::Pct { depth } => Scheduler::Pct {
                depth,
                steps: self.steps,
            },
        };
        let Some(seed) = self.next_seed(thread) else {
            return QueueStep::Over;
        };
        match self.begins() {
            true => QueueStep::Play(Schedule { seed, scheduler }),
            false => QueueStep::Over,
        }
    }

    /// Whether one more may begin.
    fn begins(&self) -> bool {
        let begun = self.begun.fetch_add(1, Ordering::SeqCst);
        self.schedules.is_none_or(|most| begun < most)
    }

    /// The seed of the next plan that was not explored before.
    fn next_seed(&self, thread: usize) -> Option<u64> {
        loop {
            // Announced before it is taken, so that nobody takes it for explored.
            self.at[thread].store(self.next.load(Ordering::SeqCst), Ordering::SeqCst);
            let number = self.shard.number(self.next.fetch_add(1, Ordering::SeqCst))?;
            if !self.before.has(number) {
                return Some(self.space.seed.wrapping_add(number));
            }
        }
    }

    fn next_of_tree(&self) -> QueueStep {
        let tree = &mut *self.tree();
        if tree.left.is_empty() && tree.playing > 0 {
            return QueueStep::Wait;
        }
        if tree.left.is_empty() {
            tree.exhausted += u64::from(tree.seed.is_some());
            tree.seed = None;
            if self.plans.is_some_and(|most| tree.exhausted >= most) {
                return QueueStep::Over;
            }
            // A plan has no position of its own: its schedules are shared by all threads.
            tree.seed = self.next_seed(0);
            tree.left.push(Vec::new());
        }
        match (tree.seed, self.begins()) {
            (Some(seed), true) => {
                tree.playing += 1;
                let scheduler = Scheduler::Delays(tree.left.pop().unwrap_or_default());
                QueueStep::Play(Schedule { seed, scheduler })
            }
            _ => QueueStep::Over,
        }
    }

    /// A thread has played this, and so many steps were chosen in it.
    pub fn played(&self, thread: usize, turn: &Schedule, steps: u32) {
        match (&self.space.search, &turn.scheduler) {
            (Search::Exhaustive { delays }, Scheduler::Delays(delayed)) => {
                let mut tree = self.tree();
                tree.playing -= 1;
                if delayed.len() < *delays as usize {
                    let later = delayed.last().map_or(0, |last| last + 1)..steps;
                    tree.left
                        .extend(later.rev().map(|step| [delayed.as_slice(), &[step]].concat()));
                }
            }
            _ => self.at[thread].store(u64::MAX, Ordering::SeqCst),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan whose schedules have so many steps.
    fn all(delays: u32, steps: u32) -> Vec<Vec<u32>> {
        let space = Space {
            search: Search::Exhaustive { delays },
            ..Space::default()
        };
        let turns = ScheduleQueue::new(
            (&space, Shard::default(), ExploredSchedules::default()),
            (None, Some(1)),
            (1, 0),
        );
        let mut played = Vec::new();
        loop {
            match turns.next(0) {
                QueueStep::Play(turn) => {
                    turns.played(0, &turn, steps);
                    match turn.scheduler {
                        Scheduler::Delays(delayed) => played.push(delayed),
                        other => panic!("{other:?}"),
                    }
                }
                QueueStep::Wait => panic!("nobody plays"),
                QueueStep::Over => break,
            }
        }
        assert_eq!(turns.exhausted(), Some(1));
        played
    }

    #[test]
    fn every_choice_of_delays_up_to_the_bound_is_played_once() {
        assert_eq!(all(0, 9), [Vec::<u32>::new()]);
        assert_eq!(all(1, 3), [vec![], vec![0], vec![1], vec![2]]);
        let mut two = all(2, 9);
        assert_eq!(two.len(), 1 + 9 + 9 * 8 / 2);
        two.sort();
        two.dedup();
        assert_eq!(two.len(), 46);
        assert!(two.iter().all(|delays| delays.is_sorted()));
    }
}
