//! SIGKILL to a process, which is started again later in the same host.

use super::strike::{Strike, StrikeEffect};
use super::{Fault, Victims, WindowDraft, any_server, no_payload, no_shortfall, servers};
use anyhow::{Context, Result};
use std::time::Duration;
use zooquake_engine::NemesisReport;
use zooquake_history::plan::{ClientState, Target};
use zooquake_history::{Node, fault};

/// How long a server may take from its start to serving.
const RESTART_PATIENCE: Duration = Duration::from_secs(20);

/// Kill.
pub const FAULT: Fault = Fault {
    kind: &fault::KILL,
    draw: |rng, topology, round| {
        if topology.workload.pinned {
            return servers::kill(rng, topology, round);
        }
        // The first three windows take the three cases that break most recipes; later ones are drawn.
        let case = if round < 3 { round } else { rng.usize(0..6) };
        let (target, state) = match case {
            0 => (Target::Client, Some((ClientState::Working, 200))),
            1 => (Target::Leader, None),
            2 => (Target::Client, Some((ClientState::Acquiring, rng.u64(0..6)))),
            3 => (Target::Client, Some((ClientState::Waiting, rng.u64(0..60)))),
            4 => (Target::Client, Some((ClientState::Releasing, rng.u64(0..3)))),
            _ => (any_server(rng, topology), None),
        };
        WindowDraft {
            target,
            payload: None,
            state,
            duration_ms: rng.u64(1_000..2_500),
        }
    },
    victims: Victims::Nodes,
    payload: no_payload,
    longest_ms: |_| 2_500,
    shortfall: no_shortfall,
    strike: |strike, victim| Box::pin(kill(strike, victim)),
    heal: |strike, victim| Box::pin(start(strike, victim)),
};

async fn kill(strike: &Strike<'_>, victim: &Node) -> Result<StrikeEffect> {
    if victim.is_client() {
        // The end of its stream takes another way, and must not be read before this.
        let known = strike.link.report(NemesisReport::Killing(victim.clone())).await?;
        known.context("the run has ended")?;
    }
    Ok(strike.cluster.kill(victim).await?.into())
}

async fn start(strike: &Strike<'_>, victim: &Node) -> Result<StrikeEffect> {
    if victim.is_server() {
        strike.cluster.start_server(victim).await?;
        return Ok(serves_again(strike, victim).await?.into());
    }
    let hello = strike.link.report(NemesisReport::Restart(victim.clone())).await?;
    hello.context("its process did not say hello")?;
    Ok("started again, and it sent hello".to_string().into())
}

/// Waits until a server that was started again serves.
pub(super) async fn serves_again(strike: &Strike<'_>, server: &Node) -> Result<String> {
    let begun = strike.clock.now();
    loop {
        match strike.cluster.server_state(server).await {
            Ok(state) => return Ok(format!("started again, and it serves as {}", state.mode)),
            Err(error) if strike.clock.now() - begun > RESTART_PATIENCE => {
                return Err(error.context(format!("not serving {} s after its start", RESTART_PATIENCE.as_secs())));
            }
            Err(_) => strike.clock.sleep(Duration::from_millis(100)).await,
        }
    }
}
