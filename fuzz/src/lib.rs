//! What the targets share: a history is judged as `zooquake check` judges it.

use zooquake_checkers::bare;
use zooquake_checkers::search::{self, Budget, Kind, Notation};
use zooquake_history::{Damage, History};

/// Steps of a search, after which it gives up: a target that is slow finds little.
const STEPS: u64 = 20_000;

/// Memory of a search, in bytes.
const BYTES: usize = 256 << 20;

/// Judges a history that was read up to its first damage, by what its operations are called.
pub fn judge(history: &History, damage: Option<Damage>, notation: Notation) {
    let damage: Vec<String> = damage.into_iter().map(|damage| damage.to_string()).collect();
    let convicted = match Kind::of(history).filter(|_| !bare::is_ours(history)) {
        Some(kind) => {
            let mut budget = Budget {
                steps: STEPS,
                bytes: BYTES,
                expired: &mut || false,
            };
            Some(search::judge(history, damage, kind, notation, &mut budget))
        }
        // A history that nothing judges says why.
        None => bare::check(history, damage).ok(),
    };
    for anomaly in convicted.into_iter().flat_map(|results| results.anomalies) {
        let known = |event: &usize| history.events.iter().any(|other| other.index == *event);
        assert!(
            anomaly.witness.iter().all(known),
            "{anomaly:?} rests on events that are not there"
        );
    }
}
