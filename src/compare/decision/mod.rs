//! What a decision of a consensus protocol takes: message delays and messages, counted on a network in which every
//! message takes the same time.
//!
//! [`measure`] plays a [`situation`] and counts; [`claims`] has what papers state of it.

mod claims;
mod measure;
mod situation;
#[cfg(test)]
mod tests;

use crate::planning::names;
use claims::claim;
use measure::{PROPOSERS, cost};
use situation::{DecisionSituation, SituationText, UNIT};
use zooquake_reports::decision::{ComparedProtocol, CostRow, DecisionComparison, SituationCosts};
use zooquake_workloads::consensus::variants::{self, ConsensusVariant};

/// The variants of the family whose decisions are compared, each with its label in figures: what it is, or how it
/// recovers from collisions.
const PROTOCOLS: [(&str, &str); 4] = [
    ("paxos", "Paxos"),
    ("fast-paxos-restart", "restart"),
    ("fast-paxos", "coordinated"),
    ("fast-paxos-uncoordinated", "uncoordinated"),
];

/// The numbers of acceptors that are compared unless others are asked for.
pub const ACCEPTORS: [usize; 4] = [3, 4, 5, 7];

/// What is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionSetup {
    /// Names of variants, such as `paxos`.
    pub variants: Vec<String>,
    /// Numbers of acceptors.
    pub acceptors: Vec<usize>,
    /// What the lengths of timers are drawn from.
    pub seed: u64,
}

impl DecisionSetup {
    /// The setup with these variants, all if there are none, and these numbers of acceptors, [`ACCEPTORS`] if there are
    /// none.
    ///
    /// # Errors
    /// If a variant does not exist, does not choose a value by acceptors' votes, or cannot have one of these sizes, or
    /// if anything is there twice: a message for the user.
    pub fn new(given: &[String], acceptors: &[usize], seed: u64) -> Result<Self, String> {
        let known = || PROTOCOLS.iter().map(|(name, _)| (*name).to_owned());
        let mut setup = Self {
            variants: if given.is_empty() {
                known().collect()
            } else {
                given.to_vec()
            },
            acceptors: if acceptors.is_empty() {
                ACCEPTORS.to_vec()
            } else {
                acceptors.to_vec()
            },
            seed,
        };
        for variant in &mut setup.variants {
            *variant = variant.strip_prefix("consensus/").unwrap_or(variant).to_owned();
            let is_compared = known().any(|name| name == *variant);
            if !is_compared && variants::VARIANTS.iter().any(|other| other.name == variant) {
                return Err(format!(
                    "consensus/{variant} has no acceptors whose votes decide; what a decision takes is compared for {}. How it fares \
                     under faults: zooquake explore consensus/{variant}",
                    known().collect::<Vec<_>>().join(", ")
                ));
            }
            if !is_compared {
                return Err(names::unknown("variant", variant, &known().collect::<Vec<_>>()));
            }
        }
        twice(&setup.variants, |variant| format!("consensus/{variant} is"))?;
        twice(&setup.acceptors, |number| format!("{number} acceptors are"))?;
        setup.acceptors.sort_unstable();
        for (variant, _) in setup.protocols() {
            for &servers in &setup.acceptors {
                variant.check(&measure::cluster(servers))?;
            }
        }
        Ok(setup)
    }

    /// The variants with their labels, in the order in which they are shown.
    fn protocols(&self) -> impl Iterator<Item = (&'static ConsensusVariant, &'static str)> {
        PROTOCOLS
            .iter()
            .filter(|(name, _)| self.variants.iter().any(|variant| variant == name))
            .filter_map(|(name, label)| Some((variants::variant(name)?, *label)))
    }
}

/// Refuses what is there twice, which would be compared with itself.
fn twice<T: PartialEq>(all: &[T], words: impl Fn(&T) -> String) -> Result<(), String> {
    match (0..all.len()).find(|&place| all[..place].contains(&all[place])) {
        Some(place) => Err(format!("{} there twice", words(&all[place]))),
        None => Ok(()),
    }
}

/// Plays every situation with every protocol and size.
///
/// # Errors
/// If one of them does not come to a decision.
pub fn comparison(setup: &DecisionSetup) -> Result<DecisionComparison, String> {
    let (first, size) = setup
        .protocols()
        .next()
        .zip(setup.acceptors.first())
        .ok_or("nothing is compared")?;
    let (_, nodes) = measure::group(first.0, *size)?;
    let situations = DecisionSituation::ALL.into_iter();
    let situations: Result<Vec<SituationCosts>, String> = situations.map(|situation| costs(setup, situation)).collect();
    let protocols = setup.protocols().map(|(variant, label)| ComparedProtocol {
        name: variant.name.to_owned(),
        label: label.to_owned(),
        promise: variant.promise.to_owned(),
    });
    Ok(DecisionComparison {
        acceptors: setup.acceptors.iter().map(|&number| number as u8).collect(),
        learners: nodes.learners as u8,
        leaders: nodes.leaders as u8,
        proposers: PROPOSERS as u8,
        unit_us: UNIT,
        seed: setup.seed,
        protocols: protocols.collect(),
        situations: situations?,
    })
}

fn costs(setup: &DecisionSetup, situation: DecisionSituation) -> Result<SituationCosts, String> {
    let mut rows = Vec::new();
    for (variant, _) in setup.protocols() {
        let claim = claim(variant.name, situation).ok_or_else(|| format!("nothing is claimed of {}", variant.name))?;
        let sizes = setup.acceptors.iter();
        let costs: Result<Vec<_>, String> = sizes
            .map(|&acceptors| cost(variant, (situation, &claim), acceptors, setup.seed))
            .collect();
        rows.push(CostRow {
            claim: claim.written(),
            costs: costs?,
        });
    }
    let SituationText { name, title, words } = situation.text();
    Ok(SituationCosts {
        name: name.to_owned(),
        title: title.to_owned(),
        words: words.to_owned(),
        rows,
    })
}
