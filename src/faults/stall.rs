//! A connection on which nothing passes for a while and which stays open: what a network that loses packets looks like
//! through TCP.

use super::{Fault, Victims, WindowDraft, client_state, no_payload, no_shortfall};
use zooquake_history::fault;
use zooquake_history::plan::{Target, Timing};

/// Stall.
pub const FAULT: Fault = Fault {
    kind: &fault::STALL,
    draw: |rng, topology, round| {
        let timing = topology.timing;
        let duration_ms = match if round < 3 { round } else { rng.usize(0..3) } {
            // Longer than the session.
            0 => timing.session_ms + timing.tick_ms + rng.u64(800..2_200),
            // Long enough for the client to call itself disconnected, too short for its session to expire. To see the
            // effect takes a third of a second more.
            1 => timing.session_ms * rng.u64(30..45) / 100,
            // So short that hardly anybody notices.
            _ => timing.session_ms * rng.u64(5..12) / 100,
        };
        WindowDraft {
            target: Target::Client,
            payload: None,
            state: Some(client_state(rng, round)),
            duration_ms,
        }
    },
    victims: Victims::Client,
    payload: no_payload,
    longest_ms: |topology| longest_ms(topology.timing),
    shortfall: no_shortfall,
    strike: |strike, victim| Box::pin(async move { Ok(strike.cluster.stall(victim).await?.into()) }),
    heal: |strike, victim| Box::pin(async move { Ok(strike.cluster.pass_on(victim, None).await?.into()) }),
};

fn longest_ms(timing: Timing) -> u64 {
    timing.session_ms + timing.tick_ms + 2_200
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Topology;
    use zooquake_history::plan::{ClusterPlan, Workload};

    #[test]
    fn stalls_are_longer_than_the_session_and_shorter() {
        let topology = Topology::new(&Workload::default(), &ClusterPlan::default());
        let session_ms = topology.timing.session_ms;
        let mut rng = fastrand::Rng::with_seed(1);
        let lasts: Vec<u64> = (0..60)
            .map(|round| FAULT.draw(&mut rng, &topology, round, 1, 2_000).duration_ms)
            .collect();
        assert!(
            lasts[0] > session_ms && lasts[1] < session_ms / 2 && lasts[2] < session_ms / 8,
            "{lasts:?}"
        );
        let longer = lasts[3..].iter().filter(|ms| **ms > session_ms).count();
        assert!((5..50).contains(&longer), "{longer}");
        assert!(lasts.iter().all(|ms| *ms <= longest_ms(topology.timing)), "{lasts:?}");
    }
}
