//! Anomalies of the ensemble: their witness is empty, as they rest on the servers' logs and answers.

use super::{Names, USUAL, minimal};
use crate::ensemble::server_log_lines::{ServerLogWriter, sample};
use crate::ensemble::simulator::Simulator;
use crate::script::txn;
use crate::simulated_locks;
use std::collections::BTreeSet;
use zooquake_checkers::ensemble::CHECKERS;
use zooquake_checkers::{Anomaly, check};
use zooquake_history::ServerTxnLog;
use zooquake_history::server_log::LeaderVote;

/// A voter that had more, two leaders of one epoch, an epoch that goes back, and two logs that differ.
#[test]
fn ensembles() {
    let zxid = |epoch: i64, counter: i64| (epoch << 32) | counter;
    let mut seen = Names::new();
    for seed in 0..crate::histories(USUAL) / 10 {
        let votes = [1, 2, 3].map(|leader| LeaderVote {
            epoch: 3,
            zxid: zxid(3, leader),
            leader,
        });
        let mut simulator = Simulator::new(seed, 3);
        simulator.liar = Some(LeaderVote {
            epoch: 4,
            ..votes[(seed % 2) as usize]
        });
        simulator.elect(&votes, &BTreeSet::new());
        let mut record = simulated_locks::record(seed);
        record.logs = Some(simulator.tellers().map(ServerLogWriter::log).collect());
        record.servers = Some(vec![
            sample(100, "n1", "leader", zxid(5, 1)),
            sample(200, "n2", "leader", zxid(5, 1)),
            sample(300, "n1", "leader", zxid(5, 2)),
            sample(400, "n2", "leader", zxid(5, 2)),
            sample(500, "n3", "follower", zxid(5, 2)),
            sample(600, "n3", "follower", zxid(4, 2)),
        ]);
        let differs = |server: &str, session: &str| ServerTxnLog {
            server: server.to_owned(),
            whole: true,
            differs: vec![txn(zxid(5, 1), session, "create", "/a")],
            ..ServerTxnLog::default()
        };
        record.server_txnlogs = Some(vec![differs("n1", "0x1"), differs("n2", "0x2")]);
        record.txnlog.get_or_insert_default();
        let all = check(&record).anomalies;
        let of_ensemble = |anomaly: &&Anomaly| CHECKERS.contains(&anomaly.kind.as_str());
        for anomaly in all.iter().filter(of_ensemble) {
            assert_eq!(anomaly.witness, [0; 0], "{anomaly:#?}");
            assert_eq!(minimal(&record, anomaly), Ok(()), "seed {seed}: {anomaly:#?}");
            seen.insert(anomaly.kind.clone());
        }
    }
    assert_eq!(seen, CHECKERS.iter().map(|name| (*name).to_owned()).collect::<Names>());
}
