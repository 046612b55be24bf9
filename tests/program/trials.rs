//! `zooquake try` of recipes' folders on a real ensemble: the template, and clients made of it that each break one
//! sentence.
//!
//! Each takes some 20 s, so that only one of them is tried unless `ZOOQUAKE_TRIALS` is `all`.

use crate::common::{EnsembleSlot, output_of, zooquake};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A client that breaks sentences.
struct Breaker {
    /// What it does.
    does: &'static str,
    /// The file of the template, what is replaced in it, and by what.
    change: [&'static str; 3],
    /// The sentences that the trial reports as broken.
    breaks: &'static [&'static str],
}

const KIT: &str = "zooquake.py";

macro_rules! breakers {
    ($($does:literal, breaks $($breaks:literal),+: $file:expr, $from:literal => $to:literal;)*) => {
        const BREAKERS: &[Breaker] = &[$(Breaker {
            does: $does,
            change: [$file, $from, $to],
            breaks: &[$($breaks),+],
        }),*];
    };
}

breakers! {
    "prints on stdout", breaks "whole-lines":
        KIT, "self.lines.put(json.dumps(message))"
        => "self.lines.put(json.dumps(message)); self.lines.put('connected')";
    "speaks another protocol", breaks "hello":
        KIT, "\"protocol\": 1" => "\"protocol\": 2";
    "does not say that it is busy", breaks "busy":
        KIT, "error=f\"busy: " => "error=f\"not now: ";
    "does not know whether an operation that it does not know has happened", breaks "unknown-operation":
        KIT, "self._reply(number, \"fail\", error=f\"no operation"
        => "self._reply(number, \"info\", error=f\"no operation";
    "answers no line that is no request", breaks "malformed":
        KIT, "if number is not None:\n                self._reply" => "if False:\n                self._reply";
    "has no timeouts", breaks "timeout":
        KIT, "self._begin(number, f, value, Deadline(timeout))" => "self._begin(number, f, value, Deadline())";
    "answers no ping beside an operation", breaks "beside":
        KIT, "{\"ping\": lambda _: {}" => "{\"ping\": lambda _: time.sleep(0 if self.late.is_set() else 2) or {}";
    "works less long than it was asked to", breaks "works":
        KIT, "time.sleep(work_ms / 1000)" => "time.sleep(work_ms / 1250)";
    "confirms while it is cut off", breaks "confirm-cut-off":
        KIT, "zxid = self.recipe.scratch_write(deadline.left())"
        => "try:\n            zxid = self.recipe.scratch_write(deadline.left())\n        except Exception:\n            \
           return {\"holds\": False, \"zxid\": 0}";
    "tells another transaction than that of its write", breaks "confirm":
        KIT, "{\"holds\": False, \"zxid\": zxid}" => "{\"holds\": False, \"zxid\": zxid - 1}";
    "tells of no session that is away", breaks "session-away":
        KIT, "self.send({\"type\": \"notice\", \"notice\": \"session\""
        => "state == \"connected\" and self.send({\"type\": \"notice\", \"notice\": \"session\"";
    "names no session when it is asked to be quiet", breaks "quiesce":
        KIT, "{\"sessions\": [session] if session else []" => "{\"sessions\": []";
    "does not name the znode that it waits with", breaks "quiesce-waiting":
        KIT, "in self.recipe.znodes().items()"
        => "in (self.recipe.znodes() if self.recipe.holds() else {}).items()";
    "does not say what it has removed", breaks "release":
        "recipe.py", "zooquake.run("
        => "Queue.release = lambda self, held: self.remove(held[\"path\"]) and None\n\nzooquake.run(";
    "outlives its stdin", breaks "end-of-stdin":
        KIT, "os._exit(0)" => "threading.Event().wait()";
    "closes its session at the end of stdin", breaks "end-of-stdin":
        KIT, "os._exit(0)" => "self.zk.stop()";
    "does not work after it was killed", breaks "killed":
        "recipe.py", "        path, czxid = self.join(PARENT)"
        => "        import os\n        if os.environ[\"ZOOQUAKE_INCARNATION\"] != \"1\":\n            \
           raise RuntimeError(\"another one runs\")\n        path, czxid = self.join(PARENT)";
    "ends when it does not know an operation", breaks "unknown-operation", "stays-up":
        KIT, "self._reply(number, \"fail\", error=f\"no operation"
        => "os._exit(3)\n            self._reply(number, \"fail\", error=f\"no operation";
}

/// The names of the sentences that a folder's client breaks, with what was seen.
fn broken(folder: &Path) -> Vec<(String, String)> {
    let output = output_of(zooquake("try --json").arg(folder));
    let results = output.json();
    let sentences = results["sentences"].as_array().expect("sentences");
    let of = |sentence: &&Value| sentence["outcome"] == "broken";
    let word = |value: &Value| value.as_str().expect("text").to_string();
    let broken: Vec<_> = sentences
        .iter()
        .filter(of)
        .map(|sentence| (word(&sentence["name"]), word(&sentence["seen"])))
        .collect();
    output.ends(if broken.is_empty() { 0 } else { 1 });
    broken
}

/// A new lock in Python.
fn lock(folder: &Path) {
    output_of(zooquake("new lock --language python").arg(folder)).ends(0);
}

#[test]
fn a_folder_that_breaks_one_sentence_fails_in_that_one_alone() {
    let _slot = EnsembleSlot::shared();
    let all = std::env::var("ZOOQUAKE_TRIALS").is_ok_and(|which| which == "all");
    let home = tempfile::tempdir().expect("a folder");
    if all {
        let good = home.path().join("good");
        lock(&good);
        assert_eq!(broken(&good), []);
    }
    let mut wrong = Vec::new();
    for (place, breaker) in BREAKERS.iter().enumerate().take(if all { BREAKERS.len() } else { 1 }) {
        let folder = home.path().join(format!("breaker-{place}"));
        lock(&folder);
        let [file, from, to] = breaker.change;
        let before = fs::read_to_string(folder.join(file)).expect("a file of the template");
        assert_eq!(before.matches(from).count(), 1, "{}: {from:?} in {file}", breaker.does);
        fs::write(folder.join(file), before.replace(from, to)).expect("writing it");
        let broken = broken(&folder);
        println!("{}: {broken:?}", breaker.does);
        if broken.iter().map(|(name, _)| name).ne(breaker.breaks) {
            wrong.push((breaker.does, breaker.breaks, broken));
        }
    }
    assert!(
        wrong.is_empty(),
        "what it does, what it breaks, what was found: {wrong:#?}"
    );
}

#[test]
fn every_breaker_is_a_change_of_the_template() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("mine");
    lock(&folder);
    for breaker in BREAKERS {
        let [file, from, _] = breaker.change;
        let text = fs::read_to_string(folder.join(file)).expect("a file of the template");
        assert_eq!(text.matches(from).count(), 1, "{}: {from:?} in {file}", breaker.does);
    }
}
