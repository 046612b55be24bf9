//! Faults over time, as they are drawn.

use super::words;
use crate::{lists, text};
use std::collections::HashSet;
use zooquake_checkers::Results;
use zooquake_checkers::analysis::{Analysis, FaultWindow};

/// How many characters a fault with its targets takes at most.
const LABEL: usize = 40;

/// One fault from striking to being healed.
#[derive(Debug)]
pub struct Band {
    /// Number of the window in the plan.
    pub id: i64,
    /// Kind of fault.
    pub fault: String,
    /// The nodes it hit.
    pub targets: Vec<String>,
    /// When it struck: from then on it may have had an effect.
    pub from: u64,
    /// When its effect was verified, at `from` or later; `None` if it never was.
    pub verified: Option<u64>,
    /// The recorded moment of its healing: from then on it may have had no effect any more.
    pub healing: Option<u64>,
    /// When it was seen healed; `None` if it never was.
    pub until: Option<u64>,
    /// Whether it counts for the verdict.
    pub counts: bool,
    /// What it took, in words, if it was one request.
    pub lost: Option<String>,
}

impl Band {
    /// `pause c3`; where the list of targets is long, `loss of 9 nodes`.
    pub fn label(&self) -> String {
        let listed = format!("{} {}", self.fault, self.targets.join(","));
        match self.targets.len() {
            0..=2 => text::clip(listed.trim_end(), LABEL),
            _ if listed.chars().count() <= LABEL => text::clip(&listed, LABEL),
            nodes => format!("{} of {nodes} nodes", text::clip(&self.fault, LABEL / 2)),
        }
    }

    /// `pause c3, 9.012 s – 13.999 s`, with what it took.
    pub fn course(&self) -> String {
        let lost = self.lost.as_ref().map(|lost| format!(" ({lost})")).unwrap_or_default();
        let until = self.healing.or(self.until).map_or("never healed".into(), text::moment);
        format!(
            "{}{lost}, {} – {until}{}",
            self.label(),
            text::moment(self.from),
            self.healed()
        )
    }

    /// When it was verified; its end if it never was.
    pub fn sure(&self) -> u64 {
        self.verified.unwrap_or(self.until.unwrap_or(u64::MAX))
    }

    /// `, verified at 24.012 s`; nothing if that was at once.
    pub fn verification(&self) -> String {
        match self.verified {
            Some(at) if at == self.from => String::new(),
            Some(at) => format!(", verified at {}", text::moment(at)),
            None => ", not verified".into(),
        }
    }

    /// `, seen healed at 24.012 s`; nothing if that was at once, or never.
    fn healed(&self) -> String {
        let seen = self.until.filter(|&until| self.ended() < until);
        seen.map(|at| format!(", seen healed at {}", text::moment(at)))
            .unwrap_or_default()
    }

    /// Until when it was certainly in effect; the greatest number if it was never healed.
    pub fn ended(&self) -> u64 {
        self.healing.or(self.until).unwrap_or(u64::MAX)
    }

    /// Whether the fault hit the node.
    pub fn hits(&self, node: &str) -> bool {
        self.targets.iter().any(|t| t == node)
    }
}

/// The faults that were on, as the checkers read them, by their beginnings.
pub fn drawn(analysis: &Analysis<'_>, results: &Results) -> Vec<Band> {
    let counting = results.windows.iter().filter(|window| window.counts);
    let counting: HashSet<i64> = counting.filter_map(|window| i64::try_from(window.id).ok()).collect();
    let lost = |id: i64| words::lost(&analysis.events[analysis.injected.get(&id)?.on?]);
    let band = |window: &FaultWindow<'_>| Band {
        id: window.id,
        fault: window.fault.to_owned(),
        targets: targets(window.target),
        from: window.from,
        verified: window.on.map(|on| on.max(window.from)),
        healing: window.healing,
        until: window.until,
        counts: counting.contains(&window.id),
        lost: lost(window.id),
    };
    let mut bands: Vec<Band> = analysis.faults.all().iter().map(band).collect();
    bands.sort_by_key(|band| (band.from, band.id));
    bands
}

/// The nodes that a list names, each once, at most 64.
fn targets(list: &str) -> Vec<String> {
    let named = list.split(',').map(str::trim).filter(|target| !target.is_empty());
    lists::distinct(named, 64).into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_targets_are_named_and_many_counted() {
        let band = |targets: &[&str]| Band {
            id: 1,
            fault: "partition".into(),
            targets: targets.iter().map(|name| name.to_string()).collect(),
            from: 0,
            verified: Some(0),
            healing: None,
            until: None,
            counts: true,
            lost: None,
        };
        assert_eq!(band(&["n1", "c1", "c2"]).label(), "partition n1,c1,c2");
        assert_eq!(
            band(&["acceptor1", "acceptor2"]).label(),
            "partition acceptor1,acceptor2"
        );
        let many = ["acceptor1", "acceptor2", "acceptor3", "leader2", "proposer2"];
        assert_eq!(band(&many).label(), "partition of 5 nodes");
        assert_eq!(band(&[]).label(), "partition");
    }
}
