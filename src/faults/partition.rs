//! A cut network.

use super::strike::{Strike, StrikeEffect};
use super::{Fault, Topology, Victims, WindowDraft, any_server, no_shortfall, servers, voters};
use anyhow::{Result, bail};
use zooquake_backend::{Cluster, Directions};
use zooquake_history::Node;
use zooquake_history::fault::{self, Cut, Payload};
use zooquake_history::plan::{ClientState, Target};

/// Partition.
pub const FAULT: Fault = Fault {
    kind: &fault::PARTITION,
    draw: |rng, topology, round| {
        if topology.workload.pinned {
            return servers::partition(rng, topology, round);
        }
        let timing = topology.timing;
        let case = match round {
            // A timing that lets a cut-off server serve expired sessions is asked for to see just that.
            _ if timing.hazardous() && round % 2 == 0 => 4,
            0..2 => round,
            2 => rng.usize(2..4),
            _ => rng.usize(0..9),
        };
        let working = Some((ClientState::Working, 200));
        let (target, cut, state) = match case {
            0 => (Target::Client, Cut::Isolate, working),
            1 => (Target::Leader, Cut::Isolate, None),
            2 | 3 => (Target::Client, Cut::Isolate, working),
            4 => (Target::HolderServer, Cut::FromServers, working),
            5 => (minority(rng, topology), Cut::FromServers, None),
            6 => (any_server(rng, topology), Cut::Isolate, None),
            7 => (Target::Leader, if rng.bool() { Cut::Deaf } else { Cut::Mute }, None),
            _ => (Target::Client, if rng.bool() { Cut::Deaf } else { Cut::Mute }, working),
        };
        let duration_ms = match case {
            // Long enough for the client to call itself disconnected, too short for its session to expire, which lasts
            // from the last heartbeat. To see the effect takes a third of a second more.
            2 => timing.session_ms * rng.u64(30..45) / 100,
            // So short that hardly anybody notices: what was under way goes on.
            3 => timing.session_ms * rng.u64(5..12) / 100,
            _ => timing.session_ms + timing.tick_ms + rng.u64(800..2_200),
        };
        WindowDraft {
            target,
            payload: Some(Payload::Cut(cut)),
            state,
            duration_ms,
        }
    },
    victims: Victims::Nodes,
    payload: |payload| match payload {
        None => Ok(Some(Payload::Cut(Cut::Isolate))),
        Some(Payload::Cut(_)) => Ok(payload),
        Some(_) => Err("has a `cut`: isolate, from-servers, deaf or mute".into()),
    },
    longest_ms: servers::longest_ms,
    shortfall: no_shortfall,
    strike: |strike, victim| Box::pin(cut_off(strike, victim)),
    heal: |strike, victim| Box::pin(join_again(strike, victim)),
};

async fn cut_off(strike: &Strike<'_>, victim: &Node) -> Result<StrikeEffect> {
    let cut = how(strike)?;
    let directions = Directions {
        inbound: cut != Cut::Mute,
        outbound: cut != Cut::Deaf,
    };
    let peers = peers(strike.cluster, victim, strike.victims, cut);
    Ok(strike.cluster.partition(victim, &peers, directions).await?.into())
}

async fn join_again(strike: &Strike<'_>, victim: &Node) -> Result<StrikeEffect> {
    let peers = peers(strike.cluster, victim, strike.victims, how(strike)?);
    Ok(strike.cluster.heal_partition(victim, &peers).await?.into())
}

fn how(strike: &Strike<'_>) -> Result<Cut> {
    match strike.window.payload {
        Some(Payload::Cut(cut)) => Ok(cut),
        // A whole host is always cut off from everyone.
        None if matches!(strike.window.target, Target::Host(_)) => Ok(Cut::Isolate),
        _ => bail!("the plan does not state how the network is cut"),
    }
}

/// From whom a victim is cut off: a client from the servers that are no victims; a server from these too, and from the
/// clients that are no victims, unless the cut is between servers only.
fn peers(cluster: &dyn Cluster, victim: &Node, victims: &[Node], cut: Cut) -> Vec<Node> {
    let others = cluster
        .servers()
        .into_iter()
        .filter(|server| server != victim && !victims.contains(server));
    if victim.is_client() || cut == Cut::FromServers {
        return others.collect();
    }
    let clients = cluster.clients().into_iter().filter(|client| !victims.contains(client));
    others.chain(clients).collect()
}

/// As many voters as can be lost: the smaller half. Observers stay with the majority: no quorum asks for them.
pub(super) fn minority(rng: &mut fastrand::Rng, topology: &Topology) -> Target {
    let names = voters(rng, topology, (topology.voters - 1) / 2);
    if names.is_empty() {
        Target::Leader
    } else {
        Target::Servers(names)
    }
}
