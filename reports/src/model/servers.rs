//! Who led the ensemble, as the servers said themselves.

use std::collections::BTreeMap;
use zooquake_checkers::evidence::ServerSample;

/// One server over time.
#[derive(Debug)]
pub struct ServerLane {
    /// `n1`, ….
    pub name: String,
    /// Spans in which it said the same of itself.
    pub spans: Vec<ServerSpan>,
}

/// A span in which a server said the same of itself.
#[derive(Debug)]
pub struct ServerSpan {
    /// `leader`, `follower`, `silent`, …
    pub mode: String,
    /// The epoch it was in.
    pub epoch: i64,
    /// Its first such answer.
    pub from: u64,
    /// Its first other answer, or its last.
    pub until: u64,
}

/// One lane for each server, at most 32.
pub fn lanes(samples: &[ServerSample]) -> Vec<ServerLane> {
    let mut by_server: BTreeMap<&str, Vec<&ServerSample>> = BTreeMap::new();
    for sample in samples {
        by_server.entry(&sample.server).or_default().push(sample);
    }
    let lane = |(name, mut samples): (&str, Vec<&ServerSample>)| {
        samples.sort_by_key(|s| s.time);
        ServerLane {
            name: crate::text::clip(name, 16),
            spans: spans(&samples),
        }
    };
    by_server.into_iter().take(32).map(lane).collect()
}

fn spans(samples: &[&ServerSample]) -> Vec<ServerSpan> {
    let mut spans: Vec<ServerSpan> = Vec::new();
    for sample in samples {
        if let Some(last) = spans.last_mut() {
            last.until = sample.time;
            if last.mode == sample.mode && last.epoch == sample.epoch {
                continue;
            }
        }
        let mode = crate::text::clip(&sample.mode, 16);
        spans.push(ServerSpan {
            mode,
            epoch: sample.epoch,
            from: sample.time,
            until: sample.time,
        });
    }
    spans
}
