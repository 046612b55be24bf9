//! What recorded a run, kept as it was recorded.

use zooquake_history::Provenance;
use zooquake_history::Record;
use zooquake_history::files::Files;

const LATER: &str =
    r#"{"commit":"3f2a91c","era":{"b":1,"a":[2.5]},"on":"docker","zookeeper":["3.8.0","3.9.3"],"zooquake":"9.0.0"}"#;

fn read(text: &str) -> Provenance {
    serde_json::from_str(text).expect("an object")
}

#[test]
fn entries_of_other_versions_are_written_as_they_were_read() {
    let later = read(LATER);
    let written = LATER.replace(r#""b":1,"a":[2.5]"#, r#""a":[2.5],"b":1"#);
    assert_eq!(serde_json::to_string(&later).expect("JSON"), written);
    assert_eq!(later.recorder().as_deref(), Some("9.0.0 (3f2a91c)"));
    assert_eq!(later.zookeeper(), ["3.8.0", "3.9.3"]);
    assert_eq!(later.text(Provenance::ENGINE), None);
}

#[test]
fn another_zooquake_is_one_of_another_version_or_of_another_commit() {
    let known = read(LATER);
    assert!(known.differs_from("0.1.0", None) && known.differs_from("9.0.0", Some("0000000")));
    assert!(!known.differs_from("9.0.0", Some("3f2a91c")));
    assert!(
        !known.differs_from("9.0.0", None),
        "nothing shows that it is another commit"
    );
    for nothing in ["{}", r#"{"zooquake":7,"commit":null}"#] {
        let nothing = read(nothing);
        assert!(!nothing.differs_from("0.1.0", Some("3f2a91c")));
        assert_eq!((nothing.recorder(), nothing.zookeeper().len()), (None, 0));
    }
}

#[test]
fn what_is_no_provenance_is_damage_of_the_record() {
    let with = |text: &[u8]| {
        let record = Record::read(Files {
            provenance: Some(text),
            ..Files::default()
        });
        let mut damage = record.damage.into_iter();
        (
            record.provenance,
            damage.find(|damage| damage.starts_with("provenance.json")),
        )
    };
    assert_eq!(with(LATER.as_bytes()), (Some(read(LATER)), None));
    for damaged in ["", "[]", "7", "{\"zooquake\":"] {
        let (none, damage) = with(damaged.as_bytes());
        assert!(none.is_none() && damage.is_some(), "{damaged}: {damage:?}");
    }
    let long = format!("{{\"zooquake\":\"{}\"}}", "9".repeat(Provenance::MOST_BYTES));
    let (none, damage) = with(long.as_bytes());
    assert!(none.is_none() && damage.is_some_and(|damage| damage.contains("65536 bytes")));
}
