//! The family `membership`: members of a group, and views of it.
//!
//! [`crate::analysis::GroupView`] reads the views out of a history; `quiet_group` is the group while nothing changes at
//! the end of a run, `view_answers` what clients answered meanwhile, `logged_values` what the transaction logs have of
//! members' values. The checkers: `phantom_member`, `view_regression`, `stale_view`, `lost_member`, `lost_update`,
//! `undone_update`; [`crate::znodes`] audits registrations as it does grants.

mod logged_values;
mod lost_member;
mod lost_update;
mod phantom_member;
mod progress;
mod quiet_group;
mod stale_view;
mod undone_update;
mod unread_views;
mod view_answers;
mod view_regression;

use crate::analysis::{Analysis, GroupView, LatencyKind};
use crate::families::FamilyChecks;
use crate::findings::Findings;
use crate::inferred_plan::{Inference, asks};
use crate::liveness::refused_for_ever;
use crate::sample::{FamilyMeasures, UnitSource};
use crate::verdict::Requirements;
use crate::znodes::{evidence_consistency, foreign_znode, orphan_node, persistent_contender};
use crate::{Results, verdict};
use logged_values::LoggedValues;
use quiet_group::QuietGroups;
use zooquake_history::Record;
use zooquake_history::operation::membership::{self, MEMBER, f};

/// The family of groups.
pub const FAMILY: FamilyChecks = FamilyChecks {
    spec: &membership::FAMILY,
    check,
    checkers: &[
        "phantom-member",
        "view-regression",
        "stale-view",
        "lost-member",
        "lost-update",
        "undone-update",
        refused_for_ever::NAME,
        "foreign-znode",
        "orphan-node",
        "persistent-contender",
        "evidence",
    ],
    measures: Some(FamilyMeasures {
        units: "changes",
        unit: "change",
        wait: "view",
        wait_sentence: "from the answer to a register or an update to the first view of each other client that shows it",
        compete: false,
        source: UnitSource::Answered(&[f::REGISTER, f::UPDATE, f::DEREGISTER], None),
        latency: LatencyKind::Spread,
    }),
    infer: |history| {
        asks(history, &[f::REGISTER], MEMBER.any())
            .then(|| Inference::family("members register, so only what every variant of a group promises was judged"))
    },
    needs_plan: &[],
};

const NEEDS: Requirements = Requirements {
    progress: &[&[f::REGISTER]],
    tree: "stale views, lost members and orphans were not looked for",
    logged: &["foreign-znode"],
};

/// The whole verdict over a run of a group.
fn check(record: &Record) -> Results {
    let run = Analysis::new(record);
    let mut found = Findings::default();
    let views = GroupView::all(run.events);
    unread_views::check(&run, &views, &mut found);
    let logged = LoggedValues::new(&run);
    phantom_member::check(&run, &views, logged.as_ref(), &mut found);
    view_regression::check(&run, &views, &mut found);
    let groups = QuietGroups::new(&run);
    stale_view::check(&run, &views, &groups, &mut found);
    lost_member::check(&run, &views, &groups, &mut found);
    lost_update::check(&run, logged.as_ref(), &mut found);
    undone_update::check(&run, logged.as_ref(), &mut found);
    progress::check(&run, &views, &mut found);
    foreign_znode::check(&run, &mut found);
    orphan_node::check(&run, &mut found);
    persistent_contender::check_group(&run, &mut found);
    evidence_consistency::check(&run, &mut found);
    verdict::close(&run, found, &NEEDS)
}
