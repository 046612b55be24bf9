//! What recorded a run and what checked it, on its page.

use crate::common::hostile::POISON;
use crate::common::{results, shows};
use zooquake_history::Provenance;

fn recorded() -> Provenance {
    let mut provenance = Provenance::default();
    for (name, value) in [
        (Provenance::ZOOQUAKE, "0.1.0"),
        (Provenance::COMMIT, "3f2a91c"),
        (Provenance::ON, "docker"),
        (Provenance::ENGINE, "Docker 20.10.24"),
        (Provenance::RECIPE, POISON),
    ] {
        provenance.set(name, value);
    }
    provenance.set(
        Provenance::ZOOKEEPER,
        ["3.8.0", "3.9.3"].into_iter().collect::<zooquake_history::Value>(),
    );
    provenance
}

#[test]
fn the_page_names_what_recorded_the_run_and_what_checked_it() {
    let mut run = results::valid();
    let without = run.write("no-provenance").page();
    assert!(!without.contains("recorded by") && !without.contains("checked by"));
    run.record.provenance = Some(recorded());
    run.extras.checked_by = "0.2.0".into();
    let page = run.write("provenance").page();
    let facts = [
        "<li>recorded by zooquake 0.1.0 (3f2a91c)</li>",
        "<li>backend: docker</li>",
        "<li>engine: Docker 20.10.24</li>",
        "<li>ZooKeeper, as its servers reported: 3.8.0, 3.9.3</li>",
        "<li>checked by zooquake 0.2.0</li>",
    ];
    shows(&page, &facts);
    assert!(page.contains("image of the recipe's clients: ") && !page.contains(POISON));
}
