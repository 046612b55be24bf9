//! The files that a plan names and that are not there.

use serde_json::json;
use zooquake_history::files::Files;
use zooquake_history::{Plan, Record};

/// A plan of this format that names these files.
fn plan(format: u32, record: &[&str]) -> Vec<u8> {
    let mut plan = serde_json::to_value(Plan::default()).unwrap();
    (plan["format"], plan["record"]) = (json!(format), json!(record));
    plan.to_string().into_bytes()
}

/// What is missing, and what is damaged, beside a history that has no events.
fn read(plan: &[u8], files: Files<'_>) -> (Vec<String>, Vec<String>) {
    let record = Record::read(Files {
        plan: Some(plan),
        history: Some(b""),
        ..files
    });
    (record.missing, record.damage)
}

#[test]
fn what_the_plan_names_and_is_not_there_is_missing() {
    let named = [
        "provenance.json",
        "servers.jsonl",
        "txnlogs.json",
        "logs/n1.log",
        "logs/one/n2.log",
    ];
    let (missing, damage) = read(&plan(2, &named), Files::default());
    assert_eq!((missing, damage), (named.map(String::from).to_vec(), vec![]));
    let log = [("n1".to_owned(), Vec::new())];
    let scenes = [("one".to_owned(), vec![("n2".to_owned(), Vec::new())])];
    let all = Files {
        provenance: Some(b"{}"),
        servers: Some(b""),
        txnlogs: Some(b"[]"),
        logs: Some(&log),
        scenes: &scenes,
        ..Files::default()
    };
    assert_eq!(read(&plan(2, &named), all), (vec![], vec![]));
    let (missing, damage) = read(&plan(1, &named), Files::default());
    assert_eq!((missing, damage), (vec![], vec![]), "format 1 names none");
}

#[test]
fn what_is_damaged_is_there() {
    let damaged = Files {
        txnlogs: Some(b"["),
        ..Files::default()
    };
    let (missing, damage) = read(&plan(2, &["txnlogs.json"]), damaged);
    assert_eq!(missing, [""; 0]);
    assert!(
        damage.len() == 1 && damage[0].starts_with("txnlogs.json, "),
        "{damage:?}"
    );
}

#[test]
fn a_plan_that_cannot_be_read_has_its_format_if_that_is_not_known() {
    let plan = |text: &[u8]| {
        let files = Files {
            plan: Some(text),
            history: Some(b""),
            ..Files::default()
        };
        let record = Record::read(files);
        (
            record.plan.format,
            record.plan_damage().map(str::to_owned),
            record.plan.unknown_format(),
        )
    };
    let (format, damage, unknown) = plan(br#"{"format":9,"workload":[]}"#);
    assert_eq!((format, damage), (9, None));
    assert_eq!(
        unknown.unwrap(),
        "is of format 9, and this zooquake reads formats 1 to 2"
    );
    for known in [&br#"{"format":2,"workload":[]}"#[..], br#"{"format":1"#] {
        let (format, damage, unknown) = plan(known);
        assert_eq!((format, unknown), (0, None));
        assert!(damage.is_some_and(|damage| damage.starts_with("plan.json, line 1, ")));
    }
}

#[test]
fn a_plan_that_names_no_file_or_one_of_no_record_is_damaged() {
    let damage = |format, named: &[&str]| read(&plan(format, named), Files::default()).1.join("; ");
    assert_eq!(damage(1, &[]), "");
    assert_eq!(
        damage(2, &[]),
        "plan.json of format 2 does not name the files of its record"
    );
    assert_eq!(damage(0, &[]), "plan.json is of format 0, which no plan has");
    let stranger = "plan.json names the file \"../n1.log\", which no record has";
    assert_eq!(damage(2, &["../n1.log", "logs/n1.log"]), stranger);
    let both = "plan.json names 2 files that no record has, such as \"logs/c1.log\"";
    assert_eq!(damage(2, &["logs/c1.log", "x"]), both);
}
