//! How a simulated ensemble decides what happens next.

use serde::{Deserialize, Serialize};

/// The scheduler of a simulated ensemble. It decides whose step comes next: a client's, which goes on after each of its
/// awaits, or a server's, which takes a message or does what is due. A real ensemble has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheduler {
    /// A random walk: messages take a time that is drawn, and so is the step that comes next of those that are ready.
    #[default]
    Walk,
    /// By priorities that are drawn, and that fall at points that are drawn (PCT: Burckhardt, Kothari, Musuvathi,
    /// Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010).
    Pct {
        /// The depth of the failures looked for: it has one point less at which a priority falls. At least 1.
        depth: u32,
        /// How many steps a schedule is taken to have: the points are drawn from so many.
        steps: u32,
    },
    /// In the order of time, but for these steps, counted from 0 and ascending, at each of which the party whose turn
    /// it is is delayed (Emmi, Qadeer, Rakamarić, "Delay-Bounded Scheduling", POPL 2011).
    Delays(Vec<u32>),
}

impl Scheduler {
    /// Whether it is the one that plans do not name.
    pub fn is_walk(&self) -> bool {
        *self == Self::Walk
    }
}
