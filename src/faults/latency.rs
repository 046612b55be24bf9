//! A slow network between a client and the servers: all that passes is late, both ways and in order.

use super::strike::Strike;
use super::{Fault, Victims, WindowDraft, client_state, no_shortfall};
use anyhow::{Result, anyhow, bail};
use std::ops::Range;
use zooquake_history::fault::{self, Latency, Payload};
use zooquake_history::plan::Target;

/// The mean delay of one way, in hundredths of the session timeout. A client takes its connection for lost when it has
/// received nothing for two fifths of that, pings when it has sent nothing for a seventh, and a ping goes there and
/// back.
const MEAN: Range<u64> = 1..9;

/// The jitter, in hundredths of the mean.
const JITTER: Range<u64> = 0..31;

/// How long it lasts once it was seen, in milliseconds.
const LASTS: Range<u64> = 1_000..3_000;

/// The longest delay that a plan may ask for, in milliseconds.
const MOST_MS: u64 = 2_000;

/// Latency.
pub const FAULT: Fault = Fault {
    kind: &fault::LATENCY,
    draw: |rng, topology, round| {
        let ms = (topology.timing.session_ms * rng.u64(MEAN) / 100).max(1);
        WindowDraft {
            target: Target::Client,
            payload: Some(Payload::Latency(Latency {
                ms,
                jitter_ms: ms * rng.u64(JITTER) / 100,
            })),
            state: Some(client_state(rng, round)),
            duration_ms: rng.u64(LASTS),
        }
    },
    victims: Victims::Client,
    payload: |payload| match payload {
        Some(Payload::Latency(latency)) => within_bounds(latency).map(|()| payload),
        _ => Err("has a `latency`, such as { ms = 80, jitter_ms = 24 }".into()),
    },
    longest_ms: |_| LASTS.end,
    shortfall: no_shortfall,
    strike: |strike, victim| Box::pin(async move { Ok(strike.cluster.delay(victim, drawn(strike)?).await?.into()) }),
    heal: |strike, victim| {
        Box::pin(async move { Ok(strike.cluster.pass_on(victim, drawn(strike).ok()).await?.into()) })
    },
};

fn drawn(strike: &Strike<'_>) -> Result<Latency> {
    let Some(Payload::Latency(latency)) = strike.window.payload else {
        bail!("the plan does not state how late all is");
    };
    within_bounds(latency)
        .map(|()| latency)
        .map_err(|why| anyhow!("its window {why}"))
}

/// Refuses a delay that no plan may ask for: what it may, as the end of a sentence about the window.
fn within_bounds(Latency { ms, jitter_ms }: Latency) -> Result<(), String> {
    match (1..=MOST_MS).contains(&ms) && jitter_ms <= ms {
        true => Ok(()),
        false => Err(format!(
            "has a delay of {ms} ms with a jitter of {jitter_ms} ms: it is 1 to {MOST_MS} ms, and the jitter no more than it"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Topology;
    use zooquake_history::plan::{ClusterPlan, Workload};

    /// What a client of the library that is built in bears: from a ping, a seventh of the session timeout after it last
    /// heard of its server, to two fifths of it.
    #[test]
    fn a_ping_is_there_and_back_before_the_client_takes_its_connection_for_lost() {
        let topology = Topology::new(&Workload::default(), &ClusterPlan::default());
        let session_ms = topology.timing.session_ms;
        let mut rng = fastrand::Rng::with_seed(1);
        let all: Vec<Latency> = (0..200)
            .map(|round| match FAULT.draw(&mut rng, &topology, round, 1, 2_000).payload {
                Some(Payload::Latency(latency)) => latency,
                other => panic!("{other:?}"),
            })
            .collect();
        let there_and_back = |latency: &Latency| 2 * (latency.ms + latency.jitter_ms);
        let most = all.iter().map(there_and_back).max().expect("some");
        assert!(most < session_ms / 4, "{most}");
        assert!(all.iter().any(|latency| latency.jitter_ms == 0));
        assert!(
            all.iter()
                .all(|latency| latency.ms > 0 && 3 * latency.jitter_ms <= latency.ms)
        );
    }
}
