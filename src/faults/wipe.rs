//! The data of a majority, lost: a positive control, because nothing built on ZooKeeper can survive it.

use super::kill::serves_again;
use super::strike::{Strike, StrikeEffect};
use super::{Fault, Victims, WindowDraft, no_payload, no_shortfall, voters};
use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use zooquake_history::plan::Target;
use zooquake_history::{Node, fault, node};

/// Wipe.
pub const FAULT: Fault = Fault {
    kind: &fault::WIPE,
    draw: |rng, topology, _| WindowDraft {
        // The smallest number of voters that is a quorum.
        target: Target::Servers(voters(rng, topology, topology.voters / 2 + 1)),
        payload: None,
        state: None,
        // How long those wiped serve alone.
        duration_ms: rng.u64(500..1_000),
    },
    victims: Victims::Majority,
    payload: no_payload,
    longest_ms: |_| 1_000,
    shortfall: no_shortfall,
    strike: |strike, victim| Box::pin(lose(strike, victim)),
    heal: |strike, victim| Box::pin(heal(strike, victim)),
};

/// Whether this victim is the one for whom everything is done: a wipe is one deed, not one for each victim.
fn first(strike: &Strike<'_>, victim: &Node) -> bool {
    strike.victims.first().is_some_and(|first| first == victim)
}

async fn lose(strike: &Strike<'_>, victim: &Node) -> Result<StrikeEffect> {
    if !first(strike, victim) {
        return Ok(StrikeEffect::NOTHING);
    }
    let (cluster, wiped) = (strike.cluster, strike.victims);
    let witness = format!("/zooquake/wipe-{}", strike.window.id);
    cluster.create(victim, std::slice::from_ref(&witness)).await?;
    ensure!(
        cluster.exists(victim, &witness).await?,
        "{witness} was created and is not there"
    );
    let voters = cluster.voters();
    try_join_all(voters.iter().map(|voter| cluster.kill(voter))).await?;
    try_join_all(wiped.iter().map(|server| cluster.wipe(server))).await?;
    try_join_all(wiped.iter().map(|server| cluster.start_server(server))).await?;
    try_join_all(wiped.iter().map(|server| serves_again(strike, server))).await?;
    ensure!(
        !cluster.exists(victim, &witness).await?,
        "{witness} survived the loss of a majority's data"
    );
    cluster.set_up(victim).await?;
    let sentence = format!(
        "{witness} was created and acknowledged; {} were killed; {} lost their data, and serve without it: {witness} is \
         gone",
        node::join(&voters, ", "),
        node::join(wiped, ", ")
    );
    Ok(sentence.into())
}

/// Starts the voters that kept their data: they join those that lost it, and lose it too.
async fn heal(strike: &Strike<'_>, victim: &Node) -> Result<StrikeEffect> {
    if !first(strike, victim) {
        return Ok(StrikeEffect::NOTHING);
    }
    let mut others = strike.cluster.voters();
    others.retain(|voter| !strike.victims.contains(voter));
    try_join_all(others.iter().map(|server| strike.cluster.start_server(server))).await?;
    // Those wiped may not have come up at all, or have lost their leader since.
    let all = strike.cluster.voters();
    try_join_all(all.iter().map(|server| serves_again(strike, server))).await?;
    Ok(format!("{} were started too, and all serve", node::join(&others, ", ")).into())
}
