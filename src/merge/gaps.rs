//! What is missing of the whole that parts make.

use super::parts::{CampaignPart, PartHeader};
use crate::campaign::attempt::CampaignPlace;
use crate::campaign::shard::Shard;
use crate::compare::drive::TurnAttempt;
use crate::compare::header::ComparisonHeader;
use crate::compare::order::Turn;
use crate::nightly::cell::{self, Cell};
use crate::nightly::header::NightHeader;
use crate::nightly::previous_nights::NightRecord;
use crate::nightly::report::decided;
use zooquake_reports::night::CellOutcome;

/// The parts of the division that are not there.
pub fn missing<H: PartHeader, P: CampaignPlace>(parts: &[CampaignPart<H, P>]) -> Vec<Shard> {
    let all = parts.first().into_iter().flat_map(|part| part.shard.siblings());
    all.filter(|shard| !parts.iter().any(|part| part.shard == *shard))
        .collect()
}

/// What is missing of a night, in sentences: cells of parts that are not there, or were cut off.
pub fn night(parts: &[CampaignPart<NightHeader, Cell>]) -> Vec<String> {
    let Some(first) = parts.first() else {
        return Vec::new();
    };
    let count = |shard: &Shard| {
        let header = NightHeader {
            shard: Some(shard.to_string()),
            ..first.content.header.clone()
        };
        header.cells().len()
    };
    let gone = missing(parts).into_iter().map(|shard| (count(&shard), shard));
    let gone = gone.filter(|(cells, _)| *cells > 0);
    let gone = gone.map(|(cells, shard)| format!("part {shard} is missing: {} not run", counted(cells, "cell")));
    let cut = parts.iter().filter(|part| !part.content.closed).filter_map(|part| {
        let record = NightRecord::new(String::new(), &part.content);
        let open = record.cells.iter().filter(|cell| {
            let attempts = record.attempts_at(cell);
            decided(cell::outcome(&attempts), attempts.len()) == CellOutcome::Skipped
        });
        cut_off(part, open.count(), record.cells.len(), "cell")
    });
    gone.chain(cut).collect()
}

/// What is missing of a comparison, in sentences: runs of parts that are not there, or were cut off.
pub fn comparison(parts: &[CampaignPart<ComparisonHeader, Turn>]) -> Vec<String> {
    let Some(first) = parts.first() else {
        return Vec::new();
    };
    let turns = |shard: Shard| {
        let header = ComparisonHeader {
            shard: Some(shard),
            ..first.content.header.clone()
        };
        header.turns()
    };
    let gone = missing(parts).into_iter().map(|shard| (turns(shard).len(), shard));
    let gone = gone.filter(|(turns, _)| *turns > 0);
    let gone = gone.map(|(turns, shard)| format!("part {shard} is missing: {} not made", counted(turns, "run")));
    let cut = parts.iter().filter_map(|part| {
        let all = turns(part.shard);
        let made = |turn: &&Turn| {
            part.content
                .attempts
                .iter()
                .any(|attempt: &TurnAttempt| attempt.place == **turn)
        };
        let open = all.len() - all.iter().filter(made).count();
        cut_off(part, open, all.len(), "run")
    });
    gone.chain(cut).collect()
}

fn cut_off<H, P: CampaignPlace>(part: &CampaignPart<H, P>, open: usize, all: usize, noun: &str) -> Option<String> {
    let CampaignPart { shard, folder, .. } = part;
    (open > 0).then(|| {
        format!(
            "part {shard} in {folder:?} was cut off: {open} of its {} not decided",
            counted(all, noun)
        )
    })
}

fn counted(n: usize, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}
