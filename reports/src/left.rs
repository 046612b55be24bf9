//! Checks that were not judged, in the tables of nights and comparisons.

use crate::text;
use std::collections::BTreeMap;
use zooquake_checkers::NotJudged;

/// Each check once, with why the first run that says so did not judge it.
pub fn chips<'a>(all: impl Iterator<Item = &'a NotJudged>) -> String {
    let mut checks: BTreeMap<&str, &str> = BTreeMap::new();
    for left in all {
        checks.entry(&left.check).or_insert(&left.why);
    }
    let chip = |(check, why): (&str, &str)| {
        format!(
            "<span class=\"seen known\" title=\"{}\">{} <i>not judged</i></span>",
            text::html(why, 300),
            text::html(check, 60)
        )
    };
    checks.into_iter().map(chip).collect()
}
