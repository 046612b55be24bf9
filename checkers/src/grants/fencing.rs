//! Fencing: a grant asked for after another was read that excludes it has a higher token. Of a variant that is fenced,
//! a grant without a token cannot be judged, which is a reason against `valid`.

use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};
use crate::grants::highest_excluder::HighestExcluder;
use crate::text::count;
use zooquake_history::operation::Mode;

/// Looks for tokens that do not rise. Only grants with tokens are looked at.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
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
