//! The engine's questions about the cluster, answered.

use super::cluster::RunCluster;
use super::readiness::{steady_and_silent, still_leads};
use anyhow::Context;
use zooquake_engine::{Question, ShellAnswer};
use zooquake_history::evidence::Reading;
use zooquake_history::plan::Timing;

/// The name of a client, which is numbered from 0: `c1`, ….
pub fn client_name(client: usize) -> String {
    format!("c{}", client + 1)
}

/// Answers a question that was asked when the history had so many events.
pub async fn answer(question: Question, place: RunCluster, timing: Timing, index: usize) -> ShellAnswer {
    let RunCluster { cluster, clock } = place;
    match question {
        Question::Steady => {
            let steady = steady_and_silent((&*cluster, &*clock), timing.sync_ms(), timing.session_ms).await;
            ShellAnswer::Steady(steady.map_err(|error| format!("{error:#}")))
        }
        Question::Leader(leader) => {
            let leads = still_leads(&*cluster, &*clock, &leader).await;
            ShellAnswer::Leads(leads.map_err(|error| format!("{error:#}")))
        }
        Question::Runs(client) => {
            let seen = cluster.sees_running(&client_name(client)).await;
            ShellAnswer::Running(seen.map_err(|error| format!("{error:#}")))
        }
        Question::Tree => {
            let znodes = async {
                let leader = crate::faults::leader(&*cluster).await.context("no server leads")?;
                cluster.tree(&leader).await
            };
            // The end is known when the answer is taken.
            let reading = |znodes| Reading {
                index,
                end_index: index,
                znodes,
            };
            ShellAnswer::Tree(znodes.await.map(reading).map_err(|error| format!("{error:#}")))
        }
    }
}
