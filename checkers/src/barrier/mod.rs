//! The family `barrier`: members that meet, and a gate at which clients wait.
//!
//! [`rounds`] reads out of a history what the checkers need: `early_release` and `stuck_barrier`, which asks
//! [`presence`] for enters; [`crate::znodes`] audits members. [`gate`] judges gates.

mod early_release;
mod gate;
mod presence;
mod rounds;
mod stuck_barrier;

use crate::analysis::{Analysis, LatencyKind};
use crate::family_checks::{FamilyChecks, FamilyMeasures, Inference, UnitSource, asks};
use crate::findings::Findings;
use crate::liveness::refused_for_ever;
use crate::verdict::Requirements;
use crate::znodes::holder_znodes::member_places;
use crate::znodes::{foreign_znode, holder_znodes, orphan_node, stolen_znode};
use crate::{Results, verdict};
use rounds::Rounds;
use zooquake_history::Record;
use zooquake_history::operation::barrier::{self, ROUND, f};
use zooquake_history::plan::BarrierKind;

/// The family of barriers.
pub const FAMILY: FamilyChecks = FamilyChecks {
    spec: &barrier::FAMILY,
    check,
    checkers: &[
        "early-release",
        "stuck-barrier",
        refused_for_ever::NAME,
        "foreign-znode",
        "stolen-znode",
        "persistent-contender",
        "orphan-node",
    ],
    measures: Some(FamilyMeasures {
        units: "rounds",
        unit: "round",
        wait: "opening",
        wait_sentence: "from the sending of the last request by which a member arrives, or by which a gate is lifted, to each \
                        answer that lets a client in",
        compete: false,
        source: UnitSource::Answered(&[f::ENTER, f::WAIT], Some(ROUND.name())),
        latency: LatencyKind::Opening,
    }),
    infer: |history| {
        if asks(history, &[f::JOIN], ROUND.any()) {
            let basis = "members join, so it was judged as the tutorial's barrier";
            let variant = "tutorial";
            return Some(Inference { variant, basis });
        }
        if asks(history, &[f::RAISE, f::WAIT, f::LIFT], ROUND.any()) {
            let basis = "a gate is raised or lifted, or somebody waits at one, so it was judged as a gate";
            let variant = "gate";
            return Some(Inference { variant, basis });
        }
        asks(history, &[f::ENTER, f::LEAVE], ROUND.any()).then_some(Inference {
            variant: "double",
            basis: "nobody joins, so it was judged as a double barrier",
        })
    },
    needs_plan: &[],
};

/// What is left undone without the znode tree.
const TREE: &str = "orphans were not looked for";

/// The whole verdict over a run of a barrier.
fn check(record: &Record) -> Results {
    let run = Analysis::new(record);
    let mut found = Findings::default();
    let kind = record.plan.workload.capabilities().barrier_kind();
    if kind == BarrierKind::Gate {
        gate::check(&run, &mut found);
        orphan_node::check(&run, &mut found);
        let needs = Requirements {
            progress: &[&[f::RAISE], &[f::WAIT], &[f::LIFT]],
            tree: TREE,
            logged: &[],
        };
        return verdict::close(&run, found, &needs);
    }
    let double = kind == BarrierKind::Double;
    let (member, progress): (&str, &[&[&str]]) = match double {
        true => (f::ENTER, &[&[f::ENTER], &[f::LEAVE]]),
        false => (f::JOIN, &[&[f::JOIN], &[f::ENTER]]),
    };
    let rounds = Rounds::new(&run, member);
    early_release::check(&run, &rounds, &mut found);
    stuck_barrier::check(&run, &rounds, double, &mut found);
    found.doubt("rounds cannot be read", &rounds.unread);
    orphan_node::check(&run, &mut found);
    if double {
        foreign_znode::judge(&run, holder_znodes::claimed_places(&run), &mut found);
        let places = member_places(&run);
        stolen_znode::judge(&run, &places, &mut found);
        holder_znodes::judge_persistence(&run, &places, &mut found);
    }
    verdict::close(
        &run,
        found,
        &Requirements {
            progress,
            tree: TREE,
            logged: if double {
                &["foreign-znode", "stolen-znode"]
            } else {
                &[]
            },
        },
    )
}
