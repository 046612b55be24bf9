//! What contradicts a failed `begin`, and what cannot be read.

use super::script::{self, decision, only, silent};
use super::{NEEDLESS, SPLIT, UNJUSTIFIED};

const NEVER: &str = "
    c1 begin t1 sites=c2
    c1 failed begin t1
    c2 vote t1 yes
    c2 voted t1 yes
    c2 asks t1
    c2 decided t1 commit";

#[test]
fn what_certainly_never_began_is_not_committed() {
    let found = only(NEVER, "wrong-outcome");
    assert_eq!(found.witness, [0, 1, 5]);
    assert!(found.why.contains("answered at 0.002 s with `fail`"), "{}", found.why);
    silent(&NEVER.replace("decided t1 commit", "decided t1 abort"));
    silent(&NEVER.replace("c1 failed begin", "c1 unknown begin"));
    // It was begun after all.
    silent(&NEVER.replace("c2 vote t1", "c1 begin t1 sites=c2\n c1 begun t1\n c2 vote t1"));
    silent(&NEVER.replace("c2 decided t1", "c2 unknown decided t1"));
    let undecided = NEVER.replace("c2 decided t1 commit", "");
    let tree = |word| script::with_tree(&undecided, &[decision("t1", word), decision("t1", word)]);
    assert_eq!(script::one(&tree("commit"), "wrong-outcome").witness, [0, 1]);
    script::none(&tree("abort"));
    // A request whose transaction cannot be read may have begun this one.
    let again = "c1 failed begin t1\n c1 begin t9 sites=c2\n c1 unknown begin t9";
    let mut hidden = script::record(&NEVER.replace("c1 failed begin t1", again));
    for event in &mut hidden.history.events[2..4] {
        event.value["tx"] = 1.into();
    }
    script::none(&hidden);
}

#[test]
fn what_cannot_be_read_decides_nothing() {
    let unread = |record: &zooquake_checkers::Record, what: &str| {
        let results = zooquake_checkers::check(record);
        assert_eq!(script::kinds(&results), [""; 0], "{results:#?}");
        let said = |reason: &String| reason.contains(what);
        assert!(results.reasons.iter().any(said), "{what}: {:?}", results.reasons);
    };
    let told = |text: &str, what: &str| unread(&script::record(text), what);
    told(
        &UNJUSTIFIED.replace("c3 voted t1 no", "c3 voted t1 aye"),
        "the `vote` of c3, which is neither yes nor no",
    );
    told(
        &SPLIT.replace("c3 decided t1 abort", "c3 decided t1 perhaps"),
        "which is neither commit nor abort",
    );
    told(
        &SPLIT.replace("c3 decided t1 abort", "c3 decided t2 abort"),
        "which answers about another transaction",
    );
    let mut partly = script::record(NEEDLESS);
    partly.history.events[0].value["sites"][1] = 3.into();
    unread(&partly, "the `begin` of c1, which names no sites");
    let tree = script::with_tree(
        &SPLIT.replace("decided t1 abort", "decided t1 commit"),
        &[decision("t1", "commit"), decision("t1", "comm")],
    );
    unread(
        &tree,
        "1 reading of decision znodes told neither commit nor abort, such as that of /app/t1/decision",
    );
}
