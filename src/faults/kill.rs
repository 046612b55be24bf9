//! SIGKILL to a process, which is started again later in the same host.

use super::{Fault, Sketch, any_server};
use zooquake_checkers::plan::{State, Target};

/// Kill.
pub const FAULT: Fault = Fault {
    name: "kill",
    summary: "SIGKILL to a client, a server or the ensemble's leader; the process is started again in the same host",
    draw: |rng, cluster, round| {
        // The first three windows take the three cases that break most recipes; later ones are drawn.
        let case = if round < 3 { round } else { rng.usize(0..6) };
        let (target, state) = match case {
            0 => (Target::Client, Some((State::Working, 200))),
            1 => (Target::Leader, None),
            2 => (Target::Client, Some((State::Acquiring, rng.u64(0..6)))),
            3 => (Target::Client, Some((State::Waiting, rng.u64(0..60)))),
            4 => (Target::Client, Some((State::Releasing, rng.u64(0..3)))),
            _ => (any_server(rng, cluster), None),
        };
        Sketch {
            target,
            cut: None,
            state,
            duration_ms: rng.u64(1_000..2_500),
        }
    },
};
