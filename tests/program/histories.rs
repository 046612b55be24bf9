//! Other people's histories on the command line: checked, held against known verdicts, converted.

use crate::common::jepsen::{FRESH, STALE, check};
use crate::common::{ProgramOutput, Runs, output_of, zooquake};
use serde_json::Value;
use std::fs;
use std::path::Path;

const LEASE: &str = "{:process 0 :type :invoke :f :acquire}
{:process 0 :type :ok :f :acquire}
{:process 1 :type :invoke :f :acquire}
{:process 1 :type :ok :f :acquire}
{:process 0 :type :invoke :f :release}
{:process 0 :type :fail :f :release :error [:not-found \"lease not found\"]}
";

/// A folder of histories, one of them deeper, beside files that are none.
fn histories(name: &str) -> Runs {
    let folder = Runs::new(name);
    let deeper = folder.path().join("deeper");
    fs::create_dir_all(&deeper).unwrap();
    for (file, content) in [
        ("stale.edn", STALE),
        ("deeper/fresh.log", FRESH),
        ("lease.edn", LEASE),
        ("README.md", "no history"),
        ("notes.txt", "nor this"),
    ] {
        fs::write(folder.path().join(file), content).unwrap();
    }
    folder
}

/// Checks against a table.
fn expect(folder: &Path, table: &str, line: &str) -> ProgramOutput {
    fs::write(folder.join("expected.tsv"), table).unwrap();
    output_of(zooquake(&format!("check --expect expected.tsv . {line}")).current_dir(folder))
}

/// Converts a file of the folder into another one.
fn convert(folder: &Runs, from: &str, to: &str) -> ProgramOutput {
    output_of(zooquake(&format!("convert {from} {to}")).current_dir(folder.path()))
}

#[test]
fn a_folder_of_histories_is_searched_through() {
    let folder = histories("searched");
    let all = check(folder.path(), "--json").ends(1).json();
    let verdicts: Vec<(&str, &str)> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let name = Path::new(one["path"].as_str().unwrap()).file_name().unwrap();
            (name.to_str().unwrap(), one["verdict"].as_str().unwrap())
        })
        .collect();
    let expected = [("fresh.log", "valid"), ("lease.edn", "valid"), ("stale.edn", "invalid")];
    assert_eq!(verdicts, expected);
    assert_eq!(all[2]["anomalies"][0]["kind"], "not-linearizable");
    assert_eq!(all[2]["stats"]["events"], 4);
    assert!(all[1]["reasons"].to_string().contains("lease lost"), "{all}");
}

#[test]
fn a_history_gets_a_page_and_a_folder_of_them_none() {
    let folder = histories("paged");
    let page = folder.path().join("page.html");
    let line = format!("--page {}", page.display());
    check(folder.path(), &line)
        .ends(254)
        .with(&["--page is of one history, and 3 were given"]);
    assert!(!page.exists());
    check(&folder.path().join("stale.edn"), &line).ends(1);
    let text = fs::read_to_string(&page).unwrap();
    assert!(
        text.contains("After its last step the state is 3, and read → 0 by process 1 cannot be next."),
        "{text}"
    );
    let nowhere = format!("--page {}", folder.path().join("nowhere/page.html").display());
    // What cannot be written is refused before anything is checked.
    let refused = check(&folder.path().join("stale.edn"), &nowhere).ends(254);
    refused.with(&["nowhere/page.html", "cannot be written", "give another --page FILE"]);
}

#[test]
fn verdicts_are_held_against_a_table() {
    let folder = histories("expected");
    let heading = "file\tmodel\tverdict\n";
    let right = format!(
        "{heading}stale.edn\tcas-register\tinvalid\nlease.edn\tmutex\tvalid\nlease.edn\tmutex-strict\tinvalid\n\
         deeper/fresh.log\tregister\tvalid\n"
    );
    let table = |table: &str, line: &str| expect(folder.path(), table, line);
    table(&right, "").ends(0).with(&["4 of 4 verdicts are as expected"]);

    let wrong = right.replace("mutex-strict\tinvalid", "mutex-strict\tvalid") + "gone.edn\tregister\tvalid\n";
    table(&wrong, "").ends(1).with(&[
        "lease.edn: expected valid (mutex-strict), found invalid",
        "gone.edn: expected valid (register), but there is no such file",
        "3 of 5 verdicts are as expected",
    ]);
    let all = table(&wrong, "--json").json();
    assert_eq!(
        (&all[2]["expected"], &all[2]["verdict"]),
        (&"valid".into(), &"invalid".into())
    );
    assert_eq!(all.as_array().unwrap().len(), 5);

    // A row of a model that does not exist keeps no other from its verdict.
    let rows = "stale.edn\tpebble\tvalid\nstale.edn\tregister\tinvalid\n";
    table(rows, "").with(&["there is no model `pebble`", "1 of 2 verdicts are as expected"]);
}

#[test]
fn a_damaged_history_is_unknown_with_the_place() {
    let folder = Runs::new("placed");
    let file = folder.path().join("cut.edn");
    fs::write(&file, &STALE[..STALE.find(":read, :value 0").unwrap()]).unwrap();
    let checked = check(&file, "--json --model register").ends(2).json();
    let reasons = checked[0]["reasons"].to_string();
    assert!(reasons.contains("line 5, column 2"), "{reasons}");
}

#[test]
fn histories_are_converted_there_and_back() {
    let folder = histories("converted");
    let file = |name: &str| folder.path().join(name);
    for (from, to) in [("lease.edn", "a.jsonl"), ("a.jsonl", "b.edn"), ("b.edn", "c.jsonl")] {
        convert(&folder, from, to).ends(0);
    }
    let read = |name: &str| fs::read_to_string(file(name)).unwrap();
    assert_eq!(read("a.jsonl"), read("c.jsonl"));
    assert!(
        read("b.edn").contains(":error [:not-found \"lease not found\"]"),
        "{}",
        read("b.edn")
    );
    for name in ["a.jsonl", "b.edn"] {
        check(&file(name), "--model mutex-strict").ends(1);
        check(&file(name), "").ends(0);
    }
    // Jepsen's text log has no times, but the verdict does not rest on them.
    for (from, to, line, code) in [
        ("lease.edn", "d.log", "--model mutex", 0),
        ("stale.edn", "e.txt", "--model register", 1),
    ] {
        convert(&folder, from, to).ends(0);
        assert!(
            read(to).starts_with("INFO  jepsen.util - 0\t:invoke\t:"),
            "{}",
            read(to)
        );
        check(&file(to), line).ends(code);
    }
    fs::write(file("bad.edn"), "[{:type :ok}]").unwrap();
    let bad = convert(&folder, "bad.edn", "no.jsonl").ends(254);
    bad.with(&["line 1, column 2"]);
    assert!(!file("no.jsonl").exists(), "nothing is written of a damaged history");
}

/// Valid, and as porcupine writes it; the text under `x` is found as neither order of the appends leaves it in the
/// second one.
const KEYED: &str = r#"{:process 0, :type :invoke, :f :append, :key "x", :value "a"}
{:process 1, :type :invoke, :f :append, :key "x", :value "b"}
{:process 0, :type :ok, :f :append, :key "x", :value "a"}
{:process 1, :type :ok, :f :append, :key "x", :value "b"}
{:process 0, :type :invoke, :f :get, :key "x", :value nil}
{:process 0, :type :ok, :f :get, :key "x", :value "ba"}
"#;

#[test]
fn key_value_histories_of_porcupine_are_known_by_what_they_hold() {
    let folder = histories("keyed");
    let file = |name: &str| folder.path().join(name);
    fs::write(file("ok.txt"), KEYED).unwrap();
    fs::write(file("bad.txt"), KEYED.replace("\"ba\"", "\"bb\"")).unwrap();
    let all = check(folder.path(), "--json").json();
    let mut all = all.as_array().unwrap().iter();
    let is_bad = |one: &&Value| one["path"] == file("bad.txt").to_str().unwrap();
    let bad = all.find(is_bad).unwrap();
    assert_eq!(
        (&bad["verdict"], &bad["anomalies"][0]["kind"]),
        (&"invalid".into(), &"not-linearizable".into())
    );
    let table = "file\tmodel\tverdict\nok.txt\tkv\tvalid\nbad.txt\tkv\tinvalid\n";
    expect(folder.path(), table, "").ends(0);

    for (from, to) in [("ok.txt", "a.edn"), ("a.edn", "b.jsonl"), ("b.jsonl", "c.txt")] {
        convert(&folder, from, to).ends(0);
        check(&file(to), "--model kv").ends(0);
    }
    assert_eq!(fs::read_to_string(file("c.txt")).unwrap(), KEYED);
    let failed = KEYED.replacen(":ok", ":fail", 1);
    fs::write(file("failed.edn"), failed).unwrap();
    convert(&folder, "failed.edn", "d.txt").ends(254).with(&["event 2: "]);
}

/// Published histories are not ours to keep; `ZOOQUAKE_HISTORIES` names a folder of them with an `expected.tsv`.
#[test]
fn published_histories_have_their_known_verdicts() {
    let Some(folder) = std::env::var_os("ZOOQUAKE_HISTORIES") else {
        eprintln!("ZOOQUAKE_HISTORIES names no folder of histories with an expected.tsv: nothing was checked");
        return;
    };
    let folder = Path::new(&folder);
    output_of(zooquake("check --expect").arg(folder.join("expected.tsv")).arg(folder)).ends(0);
}

#[test]
fn a_generated_history_is_the_same_for_a_seed_and_has_the_verdict_that_was_asked_for() {
    let folder = Runs::new("generated");
    let generate = |model: &str, name: &str, line: &str| {
        let file = folder.path().join(name);
        output_of(zooquake(&format!("generate --model {model} --ops 400 --seed 42 {line} --out")).arg(&file)).ends(0);
        file
    };
    for model in ["register", "cas-register", "mutex"] {
        let valid = generate(model, &format!("{model}.jsonl"), "--unknown 0.02");
        let again = generate(model, &format!("{model}-again.jsonl"), "--unknown 0.02");
        assert_eq!(fs::read(&valid).unwrap(), fs::read(&again).unwrap(), "{model}");
        let broken = generate(model, &format!("{model}-broken.jsonl"), "--violation");
        for (file, code) in [(valid, 0), (broken, 1)] {
            check(&file, &format!("--model {model}")).ends(code);
        }
    }
}
