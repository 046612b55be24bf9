//! Mutual exclusion: no two clients hold at the same time.
//!
//! A client may believe that it holds when it does not; that is what leases are like. So a violation needs both clients
//! to say that they hold after each has heard from a quorum, to requests sent after both grants were read: at such an
//! answer the client's session lived, and with it the znode that its grant rests on. Any other overlap of certain holds
//! is an observation.

use crate::analysis::Analysis;
use crate::findings::{Findings, Found};
use crate::grants::{Answer, Grant};

/// Looks for grants that overlap.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let read = run.grants.read();
    let confirmed = overlaps(run, &read, |grant| grant.confirms.last().copied());
    let mut doubled = vec![false; run.grants.all.len()];
    for &(earlier, later) in &confirmed {
        doubled[later] = true;
        double(run, earlier, later, out);
    }
    for (earlier, later) in overlaps(run, &read, |grant| grant.answers.last().copied()) {
        if !doubled[later] {
            stale(run, earlier, later, out);
        }
    }
    out.ran(run.names.double, read.len());
    out.ran(run.names.stale_holder, read.len());
}

/// For each grant the earlier one, of another client, that lasts longest, if it is there when the grant is read.
///
/// A hold reaches from the reading of its grant to the sending of its last answered request. Of the earlier ones only
/// two have to be known: the one that lasts longest, and the longest of the other clients.
fn overlaps(run: &Analysis<'_>, read: &[usize], last: impl Fn(&Grant<'_>) -> Option<Answer>) -> Vec<(usize, usize)> {
    let all = &run.grants.all;
    let mut longest: [Option<(usize, usize)>; 2] = [None, None];
    let mut pairs = Vec::new();
    for &later in read {
        let Some(end) = last(&all[later]).map(|answer| answer.sent) else {
            continue;
        };
        let node = all[later].node;
        let other = longest.iter().flatten().find(|(_, grant)| all[*grant].node != node);
        if let Some(&(until, earlier)) = other
            && all[later].read.is_some_and(|begin| until > begin)
        {
            pairs.push((earlier, later));
        }
        let this = (end, later);
        match longest {
            [Some(first), _] if all[first.1].node == node => longest[0] = Some(first.max(this)),
            [Some(first), _] if end > first.0 => longest = [Some(this), Some(first)],
            [None, _] => longest[0] = Some(this),
            [_, Some(second)] => longest[1] = Some(second.max(this)),
            [_, None] => longest[1] = Some(this),
        }
    }
    pairs
}

/// The first of a grant's answers to a request that was sent after the event `after`.
fn first_after(answers: &[Answer], after: usize) -> Option<Answer> {
    answers
        .get(answers.partition_point(|answer| answer.sent <= after))
        .copied()
}

fn double(run: &Analysis<'_>, earlier: usize, later: usize, out: &mut Findings) {
    let (a, b) = (&run.grants.all[earlier], &run.grants.all[later]);
    let (Some(read_a), Some(read_b)) = (a.read, b.read) else {
        return;
    };
    let (Some(said_a), Some(said_b)) = (first_after(&a.confirms, read_b), first_after(&b.confirms, read_b)) else {
        return;
    };
    let why = format!(
        "{} was read at {} and {} at {}, and after that both clients confirmed by a quorum write that each holds {}: \
         {} to a request sent at {} and answered at {}, {} to one sent at {} and answered at {}. At each of these answers \
         the client had heard from a quorum in the session it then had, so both held after the second grant, whatever \
         order the replies were written in.",
        run.grant(earlier),
        run.at(read_a),
        run.grant(later),
        run.at(read_b),
        run.names.thing,
        a.node,
        run.at(said_a.sent),
        run.at(said_a.read),
        b.node,
        run.at(said_b.sent),
        run.at(said_b.read),
    );
    let witness = vec![read_a, read_b, said_a.sent, said_a.read, said_b.sent, said_b.read];
    out.add(
        run,
        Found {
            kind: run.names.double,
            property: "mutual exclusion",
            advisory: false,
            witness,
            why,
        },
    );
}

fn stale(run: &Analysis<'_>, earlier: usize, later: usize, out: &mut Findings) {
    let (a, b) = (&run.grants.all[earlier], &run.grants.all[later]);
    let (Some(read_a), Some(read_b)) = (a.read, b.read) else {
        return;
    };
    let (Some(said_a), Some(said_b)) = (first_after(&a.answers, read_b), b.answers.first().copied()) else {
        return;
    };
    let why = format!(
        "{} was read at {}, and {} still answered as the holder to {} sent at {}; {} was read in between, at {}, and {} \
         too answered as the holder to {} sent at {}. Both believed that they held {}; what counts is whether the resource \
         was damaged, so this is an observation and no violation.",
        run.grant(earlier),
        run.at(read_a),
        a.node,
        request(run, said_a),
        run.at(said_a.sent),
        run.grant(later),
        run.at(read_b),
        b.node,
        request(run, said_b),
        run.at(said_b.sent),
        run.names.thing,
    );
    let witness = vec![read_a, read_b, said_a.sent, said_a.read, said_b.sent, said_b.read];
    out.add(
        run,
        Found {
            kind: run.names.stale_holder,
            property: "mutual exclusion",
            advisory: true,
            witness,
            why,
        },
    );
}

fn request(run: &Analysis<'_>, answer: Answer) -> String {
    format!("a {}", run.events[answer.sent].f)
}
