//! A client's session, closed from another connection: the client lives, is connected, and learns that it has expired.

use super::strike::{MissedStrike, Strike, StrikeEffect};
use super::{Fault, Victims, WindowDraft, client_state, no_payload, no_shortfall};
use anyhow::Result;
use zooquake_history::Node;
use zooquake_history::fault;
use zooquake_history::plan::Target;

/// Expire.
pub const FAULT: Fault = Fault {
    kind: &fault::EXPIRE,
    draw: |rng, _, round| WindowDraft {
        target: Target::Client,
        payload: None,
        state: Some(client_state(rng, round)),
        // It is over when it has happened.
        duration_ms: 0,
    },
    victims: Victims::Client,
    payload: no_payload,
    longest_ms: |_| 0,
    shortfall: no_shortfall,
    strike: |strike, victim| Box::pin(expire(strike, victim)),
    heal: |strike, victim| Box::pin(async move { Ok(strike.cluster.reconnect(victim).await?.into()) }),
};

async fn expire(strike: &Strike<'_>, victim: &Node) -> Result<StrikeEffect> {
    let seen = strike.cluster.expire(victim).await?;
    Ok(seen
        .ok_or_else(|| MissedStrike(format!("{victim} had no session at the moment")))?
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Topology;
    use std::collections::HashSet;
    use zooquake_history::plan::{ClientState, ClusterPlan, Trigger, Workload};

    #[test]
    fn it_strikes_clients_in_every_state_first_one_that_works_and_one_that_waits() {
        let lock = Workload {
            family: "lock".into(),
            variant: "fenced".into(),
            ..Workload::default()
        };
        let topology = Topology::new(&lock, &ClusterPlan::default());
        let mut rng = fastrand::Rng::with_seed(1);
        let states: Vec<ClientState> = (0..60)
            .map(|round| {
                let window = FAULT.draw(&mut rng, &topology, round, round + 1, 2_000);
                assert_eq!((window.target, window.duration_ms), (Target::Client, 0));
                match window.trigger {
                    Trigger::State { state, from_ms, .. } => {
                        assert_eq!(from_ms, 2_000);
                        state
                    }
                    other => panic!("{other:?}"),
                }
            })
            .collect();
        assert_eq!(states[..2], [ClientState::Working, ClientState::Waiting]);
        let drawn: HashSet<String> = states[2..].iter().map(|state| format!("{state:?}")).collect();
        assert_eq!(drawn.len(), 4, "{drawn:?}");
    }
}
