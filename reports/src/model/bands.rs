//! Faults over time.

use super::words;
use crate::text;
use std::collections::BTreeMap;
use zooquake_checkers::{Record, Results};

/// One fault from taking effect to being healed.
#[derive(Debug, Default)]
pub struct Band {
    /// Number of the window in the plan.
    pub id: usize,
    /// Kind of fault.
    pub fault: String,
    /// The nodes it hit.
    pub targets: Vec<String>,
    /// When it took effect.
    pub from: u64,
    /// When it was healed; `None` if it never was.
    pub until: Option<u64>,
    /// Whether it counts for the verdict.
    pub counts: bool,
    /// What it took, in words, if it was one request.
    pub lost: Option<String>,
}

impl Band {
    /// `pause c3`.
    pub fn label(&self) -> String {
        text::clip(format!("{} {}", self.fault, self.targets.join(",")).trim_end(), 40)
    }

    /// Whether the fault hit the node.
    pub fn hits(&self, node: &str) -> bool {
        self.targets.iter().any(|t| t == node)
    }
}

/// The faults that took effect: as the results have them, and as the history has those that the results do not place.
pub fn find(record: &Record, results: &Results) -> Vec<Band> {
    let mut bands: BTreeMap<usize, Band> = BTreeMap::new();
    for event in record.history.events.iter().filter(|e| e.on_lane("nemesis")) {
        let Some(id) = event.int("window").and_then(|n| usize::try_from(n).ok()) else {
            continue;
        };
        match event.str("phase") {
            Some("on") => {
                let band = bands.entry(id).or_insert_with(|| Band {
                    id,
                    fault: event.f.clone(),
                    from: event.time,
                    ..Band::default()
                });
                add_targets(band, event.str("target").unwrap_or(""));
                band.lost = words::lost(event).or(band.lost.take());
            }
            Some("off") => {
                if let Some(band) = bands.get_mut(&id) {
                    band.until = Some(event.time);
                }
            }
            _ => {}
        }
    }
    for window in &results.windows {
        let Some(from) = window.from else { continue };
        let band = bands.entry(window.id).or_default();
        (band.id, band.from, band.counts) = (window.id, from, window.counts);
        band.fault.clone_from(&window.fault);
        band.until = window.until.or(band.until);
        add_targets(band, &window.target);
    }
    let mut bands: Vec<_> = bands.into_values().collect();
    bands.sort_by_key(|b| (b.from, b.id));
    bands
}

fn add_targets(band: &mut Band, targets: &str) {
    for target in targets.split(',').map(str::trim).filter(|t| !t.is_empty()) {
        if band.targets.len() < 64 && !band.hits(target) {
            band.targets.push(target.to_owned());
        }
    }
}
