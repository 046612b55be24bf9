//! The diagrams of the documents are those of the runs that they are about.

use crate::common::networks;
use std::fs;
use std::path::Path;
use zooquake_reports::message_diagram;

#[test]
fn the_diagrams_of_the_documents_are_drawn_from_runs_as_they_are() {
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures");
    for name in networks::names() {
        let record = networks::record(&name);
        let results = zooquake_checkers::check(&record);
        let (drawn, _) = message_diagram(&record, &results).expect("a diagram");
        let kept = fs::read_to_string(pictures.join(format!("consensus-{name}.svg"))).expect(&name);
        assert!(
            drawn == kept,
            "docs/pictures/consensus-{name}.svg is another one: cargo run -p zooquake-reports --example consensus -- docs/pictures"
        );
    }
}
