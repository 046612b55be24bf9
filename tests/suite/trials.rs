//! `zooquake try` of recipes' folders on a real ensemble: the template, and clients made of it that each break one sentence.
//!
//! Each takes some 20 s, so that only one of them is tried unless `ZOOQUAKE_TRIALS` is `all`.

use crate::common::{EnsembleSlot, text, zooquake};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A client that breaks one sentence.
struct Breaker {
    /// What it does.
    does: &'static str,
    /// The file of the template, what is replaced in it, and by what.
    change: [&'static str; 3],
    /// The sentences that are told as broken.
    breaks: &'static [&'static str],
}

const KIT: &str = "zooquake.py";

const BREAKERS: &[Breaker] = &[
    Breaker {
        does: "prints on stdout",
        change: [
            KIT,
            "self.lines.put(json.dumps(message))",
            "self.lines.put(json.dumps(message)); self.lines.put('connected')",
        ],
        breaks: &["whole-lines"],
    },
    Breaker {
        does: "speaks another protocol",
        change: [KIT, "\"protocol\": 1", "\"protocol\": 2"],
        breaks: &["hello"],
    },
    Breaker {
        does: "does not say that it is busy",
        change: [KIT, "error=f\"busy: ", "error=f\"not now: "],
        breaks: &["busy"],
    },
    Breaker {
        does: "does not know whether an operation that it does not know has happened",
        change: [
            KIT,
            "self._reply(number, \"fail\", error=f\"no operation",
            "self._reply(number, \"info\", error=f\"no operation",
        ],
        breaks: &["unknown-operation"],
    },
    Breaker {
        does: "answers no line that is no request",
        change: [
            KIT,
            "if number is not None:\n                self._reply",
            "if False:\n                self._reply",
        ],
        breaks: &["malformed"],
    },
    Breaker {
        does: "has no timeouts",
        change: [
            KIT,
            "self._begin(number, f, value, Deadline(timeout))",
            "self._begin(number, f, value, Deadline())",
        ],
        breaks: &["timeout"],
    },
    Breaker {
        does: "answers no ping beside an operation",
        change: [
            KIT,
            "{\"ping\": lambda _: {}",
            "{\"ping\": lambda _: time.sleep(0 if self.late.is_set() else 2) or {}",
        ],
        breaks: &["beside"],
    },
    Breaker {
        does: "works less long than it was asked to",
        change: [KIT, "time.sleep(work_ms / 1000)", "time.sleep(work_ms / 1250)"],
        breaks: &["works"],
    },
    Breaker {
        does: "confirms while it is cut off",
        change: [
            KIT,
            "stat = self.recipe.quorum_write(deadline.left())",
            "try:\n            stat = self.recipe.quorum_write(deadline.left())\n        except Exception:\n            \
             return {\"holds\": False, \"zxid\": 0}",
        ],
        breaks: &["confirm-cut-off"],
    },
    Breaker {
        does: "tells another transaction than that of its write",
        change: [
            KIT,
            "{\"holds\": False, \"zxid\": stat.mzxid}",
            "{\"holds\": False, \"zxid\": stat.czxid - 1}",
        ],
        breaks: &["confirm"],
    },
    Breaker {
        does: "tells of no session that is away",
        change: [
            KIT,
            "self.send({\"type\": \"notice\", \"notice\": \"session\"",
            "told == \"connected\" and self.send({\"type\": \"notice\", \"notice\": \"session\"",
        ],
        breaks: &["session-away"],
    },
    Breaker {
        does: "names no session when it is asked to be quiet",
        change: [KIT, "{\"sessions\": [session] if session else []", "{\"sessions\": []"],
        breaks: &["quiesce"],
    },
    Breaker {
        does: "does not name the znode that it waits with",
        change: [
            KIT,
            "in self.recipe.znodes().items()",
            "in (self.recipe.znodes() if self.recipe.holds() else {}).items()",
        ],
        breaks: &["quiesce-waiting"],
    },
    Breaker {
        does: "does not say what it has removed",
        change: [
            "recipe.py",
            "zooquake.run(",
            "Queue.release = lambda self, held: self.remove(held[\"path\"]) and None\n\nzooquake.run(",
        ],
        breaks: &["release"],
    },
    Breaker {
        does: "outlives its stdin",
        change: [KIT, "os._exit(0)", "threading.Event().wait()"],
        breaks: &["end-of-stdin"],
    },
    Breaker {
        does: "closes its session at the end of stdin",
        change: [KIT, "os._exit(0)", "self.zk.stop()"],
        breaks: &["end-of-stdin"],
    },
    Breaker {
        does: "does not work after it was killed",
        change: [
            "recipe.py",
            "        path, czxid = self.join(PARENT)",
            "        import os\n        if os.environ[\"ZOOQUAKE_INCARNATION\"] != \"1\":\n            \
             raise RuntimeError(\"another one runs\")\n        path, czxid = self.join(PARENT)",
        ],
        breaks: &["killed"],
    },
    Breaker {
        does: "ends when it does not know an operation",
        change: [
            KIT,
            "self._reply(number, \"fail\", error=f\"no operation",
            "os._exit(3)\n            self._reply(number, \"fail\", error=f\"no operation",
        ],
        breaks: &["unknown-operation", "stays-up"],
    },
];

/// The names of the sentences that a folder's client breaks, with what was seen.
fn broken(folder: &Path) -> Vec<(String, String)> {
    let output = zooquake()
        .arg("try")
        .arg(folder)
        .arg("--json")
        .output()
        .expect("starting zooquake");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)));
    let sentences = told["sentences"].as_array().expect("sentences");
    let of = |sentence: &&Value| sentence["outcome"] == "broken";
    let word = |value: &Value| value.as_str().expect("text").to_string();
    let broken: Vec<_> = sentences
        .iter()
        .filter(of)
        .map(|sentence| (word(&sentence["name"]), word(&sentence["seen"])))
        .collect();
    assert_eq!(
        output.status.code(),
        Some(if broken.is_empty() { 0 } else { 1 }),
        "{}",
        text(&output)
    );
    broken
}

/// A new lock in Python.
fn lock(folder: &Path) {
    let new = ["new", "lock", "--language", "python"];
    let output = zooquake().args(new).arg(folder).output().expect("starting zooquake");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

#[test]
fn a_folder_that_breaks_one_sentence_is_told_of_that_one() {
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
        "what it does, what it breaks, what was told: {wrong:#?}"
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
