//! Fencing: a grant asked for after another was read that excludes it has a higher token. Of a variant that is fenced,
//! a grant without a token cannot be judged, which is a reason against `valid`. Of a user's own recipe that is not,
//! tokens mean nothing; a write that the resource refused by one all the same, as resources of earlier versions did, is
//! a reason, too.

use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};
use crate::grants::highest_excluder::HighestExcluder;
use crate::text::count;
use zooquake_history::EventType;
use zooquake_history::operation::Mode;
use zooquake_history::operation::grant::f;
use zooquake_history::plan::Resource;

/// Looks for tokens that do not rise. Only grants with tokens are looked at, and of a user's own recipe only where they
/// are promised.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let workload = &run.record.plan.workload;
    // No built-in variant sends a token that it does not promise; clients of a user's own may.
    if workload.recipe.is_some() && !workload.fenced {
        refused(run, out);
        return out.ran(run.names.regression, 0);
    }
    let grants = &run.grants.all;
    let read: Vec<usize> = run
        .grants
        .read()
        .into_iter()
        .filter(|&grant| grants[grant].token.is_some())
        .collect();
    // Each time a token was read: where, and the highest ones until then.
    let mut rises: Vec<(usize, HighestExcluder<'_, i64>)> = Vec::new();
    let mut highest = HighestExcluder::NONE;
    for &grant in &read {
        if let (Some(at), Some(token)) = (grants[grant].read, grants[grant].token) {
            highest.insert(run, grant, token);
            rises.push((at, highest));
        }
    }
    for &later in &read {
        let Some(asked) = grants[later].asked else { continue };
        let before = rises.partition_point(|&(at, _)| at < asked);
        let before = before.checked_sub(1).map(|last| rises[last].1);
        if let Some((token, earlier)) = before.and_then(|highest| highest.highest(run, later))
            && grants[later].token <= Some(token)
        {
            regressed(run, earlier, later, asked, out);
        }
    }
    without(run, out);
    out.ran(run.names.regression, read.len());
}

/// Grants of a fenced variant without a token.
fn without(run: &Analysis<'_>, out: &mut Findings) {
    if !run.record.plan.workload.fenced {
        return;
    }
    let read = run.grants.read();
    let each = read.iter().copied();
    let bare: Vec<usize> = each.filter(|&grant| run.grants.all[grant].token.is_none()).collect();
    if let Some(&first) = bare.first() {
        out.reasons.push(format!(
            "{} of {} gave no token, though the variant is fenced, such as {}: whether their tokens rise was not judged",
            bare.len(),
            count(read.len(), "grant"),
            run.grant(first)
        ));
    }
}

/// Writes that the resource refused by their tokens, though the variant promises none: they were not accepted, so that
/// none of them is stale, and a resource as it was promised would have accepted them.
fn refused(run: &Analysis<'_>, out: &mut Findings) {
    if run.record.plan.workload.resource != Resource::External {
        return;
    }
    let ends = run
        .ops
        .work
        .iter()
        .filter(|op| op.f == f::WRITE)
        .filter_map(|op| op.end);
    let refused: Vec<usize> = ends
        .filter(|&end| run.events[end].kind == EventType::Fail && run.events[end].accepted() == Some(false))
        .collect();
    if let Some(&first) = refused.iter().min() {
        out.reasons.push(format!(
            "the resource refused {} by their tokens, the first at {} (event {first}), though the variant is not fenced: \
             whether they were stale was not judged",
            count(refused.len(), "write"),
            run.at(first),
        ));
    }
}

fn regressed(run: &Analysis<'_>, earlier: usize, later: usize, asked: usize, out: &mut Findings) {
    let (a, b) = (&run.grants.all[earlier], &run.grants.all[later]);
    let (Some(read_a), Some(read_b)) = (a.read, b.read) else {
        return;
    };
    let why = format!(
        "{} was read at {} with the token {}. {} was asked for only after that, at {}, and read at {}, with the token \
         {}, which is not higher: a resource that checks tokens cannot distinguish the newer holder from the older.",
        run.grant(earlier),
        run.at(read_a),
        a.token.unwrap_or_default(),
        run.grant(later),
        run.at(asked),
        run.at(read_b),
        b.token.unwrap_or_default(),
    );
    let mut witness = vec![read_a, asked, read_b];
    witness.extend(run.telling_modes([earlier, later]));
    // The mode of a shared grant stands in its request, which is here, so that without its request that of the other is
    // unknown.
    witness.extend(a.asked.filter(|_| b.mode != Some(Mode::Exclusive)));
    out.add(run, Finding::new(run.names.regression, "fencing", witness, why));
}
