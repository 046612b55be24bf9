//! Checks that were not judged, in the tables of nights and comparisons.

use crate::text;
use maud::{Markup, html};
use std::collections::BTreeMap;
use zooquake_checkers::NotJudged;

/// Each check once, with why the first run that names it did not judge it.
pub fn chips<'a>(all: impl Iterator<Item = &'a NotJudged>) -> Markup {
    let mut checks: BTreeMap<&str, &str> = BTreeMap::new();
    for one in all {
        checks.entry(&one.check).or_insert(&one.why);
    }
    html! {
        @for (check, why) in checks {
            span.seen.known title=(text::clip(why, 300)) { (text::clip(check, 60)) " " i { "not judged" } }
        }
    }
}
