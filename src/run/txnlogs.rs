//! The servers' transaction logs at the end of a run.

use super::cluster::RunCluster;
use std::future;
use std::time::Duration;
use tokio::sync::watch;
use zooquake_history::txnlog::{ServerEntries, TxnLogs, union};

/// How long they are waited for once the user wants the run to stop.
const HURRY: Duration = Duration::from_secs(5);

/// Reads the logs of all servers. What was not read is noted in them, and a warning on stderr names it.
pub(super) async fn read(place: &RunCluster, mut interrupt: watch::Receiver<bool>) -> TxnLogs {
    let stopped = async {
        if interrupt.wait_for(|stop| *stop).await.is_err() {
            future::pending::<()>().await;
        }
        place.clock.sleep(HURRY).await;
    };
    let logs = tokio::select! {
        biased;
        logs = place.cluster.transactions() => logs,
        () = stopped => unread(place),
    };
    for log in &logs.servers {
        if let Some(problem) = &log.problem {
            eprintln!(
                "zooquake: the transaction log of {} was not read whole: {problem}",
                log.server
            );
        }
    }
    logs
}

/// What is known of logs that were not waited for.
fn unread(place: &RunCluster) -> TxnLogs {
    let voters = place.cluster.voters();
    let logs = place.cluster.servers().into_iter().map(|server| ServerEntries {
        voter: voters.contains(&server),
        server,
        entries: Vec::new(),
        problems: vec!["the run was interrupted".to_owned()],
    });
    union(logs.collect())
}
