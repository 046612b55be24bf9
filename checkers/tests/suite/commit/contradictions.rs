//! What contradicts a failed `begin`, and what cannot be read.

use super::{NEEDLESS, SPLIT, UNJUSTIFIED, commit, decided};
use crate::expect::{edited, explains, has_reason, innocent, none, one_by};
use crate::script::changed;

const NEVER: &str = "
    c1 begin t1 sites=c2; c1 failed begin t1
    c2 vote t1 yes; c2 voted t1 yes
    c2 asks t1; c2 decided t1 commit";

#[test]
fn what_certainly_never_began_is_not_committed() {
    let found = one_by(&commit(NEVER), "wrong-outcome", &[0, 1, 5]);
    explains(&found, "answered at 0.002 s with `fail`");
    let table = "
        decided t1 commit => decided t1 abort
        c1 failed begin => c1 unknown begin
        c2 vote t1 => c1 begin t1 sites=c2; c1 begun t1; c2 vote t1 # it was begun after all
        c2 decided t1 => c2 unknown decided t1";
    innocent(commit, NEVER, table);
    let undecided = edited(NEVER, "c2 decided t1 commit =>");
    one_by(&decided(&undecided, ["commit"; 2]), "wrong-outcome", &[0, 1]);
    none(&decided(&undecided, ["abort"; 2]));
    // A request whose transaction cannot be read may have begun this one.
    let again = "c1 failed begin t1 => c1 failed begin t1; c1 begin t9 sites=c2; c1 unknown begin t9";
    let mut hidden = commit(&edited(NEVER, again));
    for event in &mut hidden.history.events[2..4] {
        event.value["tx"] = 1.into();
    }
    none(&hidden);
}

#[test]
fn what_cannot_be_read_decides_nothing() {
    for (text, edits, said) in [
        (
            UNJUSTIFIED,
            "c3 voted t1 no => c3 voted t1 aye",
            "the `vote` of c3, which is neither yes nor no",
        ),
        (
            SPLIT,
            "c3 decided t1 abort => c3 decided t1 perhaps",
            "which is neither commit nor abort",
        ),
        (
            SPLIT,
            "c3 decided t1 abort => c3 decided t2 abort",
            "which answers about another transaction",
        ),
    ] {
        has_reason(&none(&commit(&edited(text, edits))), said);
    }
    let partly = changed(commit(NEEDLESS), |partly| {
        partly.history.events[0].value["sites"][1] = 3.into()
    });
    has_reason(&none(&partly), "the `begin` of c1, which names no sites");
    let text = SPLIT.replace("decided t1 abort", "decided t1 commit");
    let tree = decided(&text, ["commit", "comm"]);
    let said = "1 reading of decision znodes showed neither commit nor abort, such as that of /app/t1/decision";
    has_reason(&none(&tree), said);
}
