//! Leases that last for a time: no more clients hold than there are leases, and none begins work that its lease cannot
//! outlast.
//!
//! The clock alone convicts, of the orchestrator: it bounds from both sides when the lease of each grant ends by its
//! client's clock ([`crate::analysis::TimedHold`]). No `confirm` is needed, but of a lease that ends with a session,
//! too.

use super::holding_clients::HoldingClients;
use crate::analysis::{Analysis, HolderAnswer, TimedHold, nanos};
use crate::findings::{Finding, Findings};
use crate::text::{count, seconds};
use zooquake_history::operation::WORK_MS;
use zooquake_history::operation::grant::f;
use zooquake_history::plan::LeaseTerm;

/// The anomaly of work that was begun though it could not be done before its lease was over.
pub const OVERDUE: &str = "overdue-work";

/// Looks for leases that overlap, and for work that they do not outlast.
pub fn check(run: &Analysis<'_>, term: LeaseTerm, out: &mut Findings) {
    over_capacity(run, term, out);
    overdue_work(run, term, out);
}

fn over_capacity(run: &Analysis<'_>, term: LeaseTerm, out: &mut Findings) {
    let holds = run.timed_holds();
    let mut holding = HoldingClients::new(run);
    // By grant its certain hold.
    let mut of = vec![None; run.grants.all.len()];
    for hold in &holds {
        let node = run.grants.all[hold.grant].node;
        of[hold.grant] = Some(hold);
        if let Some(earlier) = holding.others(node, run.capacity.get(), run.time(hold.read)) {
            let earlier = earlier.into_iter().filter_map(|grant| of[grant]);
            let all: Vec<&TimedHold> = earlier.chain([hold]).collect();
            convict(run, term, &all, out);
        }
        holding.insert(hold.grant, hold.until);
    }
    out.ran(run.names.double, holds.len());
}

fn convict(run: &Analysis<'_>, term: LeaseTerm, all: &[&TimedHold], out: &mut Findings) {
    let Some(last) = all.iter().map(|hold| hold.read).max() else {
        return;
    };
    let mut witness = Vec::new();
    let mut listed = Vec::new();
    for hold in all {
        let session = session_lived(run, hold, last);
        witness.extend([hold.asked, hold.read]);
        witness.extend(session.iter().flat_map(|confirm| [confirm.sent, confirm.read]));
        let confirmed = session.map(|confirm| format!(", confirmed to a request sent at {}", run.at(confirm.sent)));
        listed.push(format!(
            "{} from {} to {} (asked for at {}{})",
            run.grant(hold.grant),
            run.at(hold.read),
            seconds(hold.until),
            run.at(hold.asked),
            confirmed.unwrap_or_default(),
        ));
    }
    let until = all.iter().map(|hold| hold.until).min().unwrap_or_default();
    let why = format!(
        "At most {} may hold a lease at a time. A lease lasts {} of its client's clock, which began it after its request was sent, and \
         clocks differ by {} at most: it is held from the reading of its grant until {} after that sending, unless its client gives it \
         back or reports that it holds no more. So these were certainly held: {}. From {} to {} all {} were.",
        count(run.capacity.get(), "client"),
        seconds(nanos(term.lasts)),
        seconds(nanos(term.margin)),
        seconds(nanos(term.least())),
        listed.join("; "),
        run.at(last),
        seconds(until),
        all.len(),
    );
    out.add(run, Finding::new(run.names.double, "k-exclusion", witness, why));
}

/// Of a lease that ends with a session: the first `confirm` that was sent after an event, which that session outlived.
fn session_lived(run: &Analysis<'_>, hold: &TimedHold, after: usize) -> Option<HolderAnswer> {
    let grant = &run.grants.all[hold.grant];
    let mut confirms = grant.confirms.iter().filter(|_| grant.session.is_some());
    confirms
        .find(|confirm| run.time(confirm.sent) > run.time(after))
        .copied()
}

fn overdue_work(run: &Analysis<'_>, term: LeaseTerm, out: &mut Findings) {
    let mut looked_at = 0;
    for number in run.grants.read() {
        let grant = &run.grants.all[number];
        let Some(read) = grant.read else { continue };
        let latest = run.latest_end(term, read);
        let works = grant
            .answers
            .iter()
            .filter(|answer| run.events[answer.sent].f == f::WORK);
        let mut overdue = works.inspect(|_| looked_at += 1).filter_map(|answer| {
            let work_ms = run.events[answer.sent].get(WORK_MS).unwrap_or(0);
            let takes = u64::try_from(work_ms).unwrap_or(0).saturating_mul(1_000_000);
            let done = run.time(answer.sent).saturating_add(takes);
            (done > latest).then_some((answer, takes, done))
        });
        let Some((answer, takes, done)) = overdue.next() else {
            continue;
        };
        let why = format!(
            "{} was read at {}, and a lease lasts {} of its client's clock, where clocks differ by {} at most: it was over at {} at the \
             latest. {} answered as its holder to work of {}, sent at {} and answered at {}, which could not be done before {}: work \
             that does not fit into what is left of a lease is not begun, however late its client looks at its clock.",
            run.grant(number),
            run.at(read),
            seconds(nanos(term.lasts)),
            seconds(nanos(term.margin)),
            seconds(latest),
            grant.node,
            seconds(takes),
            run.at(answer.sent),
            run.at(answer.read),
            seconds(done),
        );
        let witness = vec![read, answer.sent, answer.read];
        out.add(run, Finding::new(OVERDUE, "leases end", witness, why));
    }
    out.ran(OVERDUE, looked_at);
}
