//! Counters.

use super::told;
use crate::counter::{counter, held};

#[test]
fn an_id_given_three_times_is_said_to_be() {
    let text = "
        c1 invoke increment; c2 invoke increment; c3 invoke increment
        c1 ok increment id=1; c2 ok increment id=1; c3 ok increment id=1";
    let said = ["also given to 1 more increment"];
    told(&counter(text), "duplicate-id", &said, &["more increments"]);
}

/// An increment that is under way when a value is read may have made it.
#[test]
fn what_can_have_made_a_value_is_counted() {
    let text = "
        c1 invoke increment; c2 invoke increment; c1 ok increment id=1
        c3 invoke get; c3 ok get value=4";
    let said = [
        "only 2 can have made that: 2 that were given",
        "and 0 of unknown outcome",
        "no client invoked 2 of them",
    ];
    let record = counter(&format!("{text}; c2 ok increment id=2"));
    told(&record, "phantom-increment", &said, &[]);
    let said = ["1 that were given an id not greater, and 1 of unknown outcome"];
    told(&counter(text), "phantom-increment", &said, &[]);
}

#[test]
fn who_found_too_little_is_named() {
    let tree = held("c1 invoke increment; c1 ok increment id=1; run audit", "0");
    let said = ["Yet the znode tree, read at the end, has the value 0"];
    told(&tree, "lost-increment", &said, &["which had begun"]);
    let client = "
        c1 invoke increment; c1 ok increment id=1
        c2 ask confirm; c2 answer confirm
        c2 invoke get; c2 ok get value=0";
    let said = ["Yet c2, which had begun a write"];
    told(&counter(client), "lost-increment", &said, &["znode tree"]);
}
