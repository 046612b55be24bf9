//! What is written is what the schemas promise, and they promise something.

use crate::common::{Runs, output_of, without_engine, zooquake};
use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The schemas that the program prints.
struct PrintedSchemas(Schemas, Compiler);

impl PrintedSchemas {
    fn new() -> Self {
        Self(Schemas::new(), Compiler::new())
    }

    fn schema(&mut self, file: &str) -> SchemaIndex {
        let printed = output_of(&mut zooquake(&format!("schema {file}"))).ends(0).json();
        self.1.add_resource(file, printed).expect("a schema");
        self.1.compile(file, &mut self.0).expect("a schema")
    }

    /// Holds a value against a schema.
    fn hold(&self, schema: SchemaIndex, value: &Value, what: &str) {
        if let Err(error) = self.0.validate(value, schema) {
            panic!("{what}: {error:#}\n{value}");
        }
    }

    fn refuse(&self, schema: SchemaIndex, value: &Value) {
        assert!(self.0.validate(value, schema).is_err(), "{value}");
    }
}

/// The JSON value in a file, or in each of its lines.
fn values(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a file");
    match serde_json::from_str(&text) {
        Ok(value) => vec![value],
        Err(_) => text
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line"))
            .collect(),
    }
}

#[test]
fn the_files_of_a_run_are_what_their_schemas_promise() {
    let mut printed = PrintedSchemas::new();
    let [plan, history, results] = ["plan", "history", "results"].map(|file| printed.schema(file));
    let runs = Runs::new("schemas");
    let every = "kill,pause,partition,drop-reply,hold-reply,disconnect,expire,latency,stall,lag";
    let cases = [
        ("lock/predecessor", every),
        ("rwlock/fenced", "kill,drop-reply"),
        ("election/sequential", "kill,drop-reply"),
        ("semaphore/timed", "kill,drop-reply"),
        ("barrier/double", "kill,drop-reply"),
        ("barrier/gate", "kill,drop-reply"),
        ("queue/claimed", every),
        ("commit/coordinated", "kill,drop-reply"),
        ("counter/unconditional", "kill,drop-reply"),
        ("membership/tutorial", "kill,drop-reply"),
        ("register/read", every),
        ("consensus/isr", "kill,partition,loss"),
    ];
    for (variant, faults) in cases {
        let out = runs.path().join(variant);
        let on = if variant.starts_with("consensus") {
            ""
        } else {
            "--on sim --time 80s"
        };
        let line = format!("run {variant} {on} --faults {faults} --seed 5 --quiet --out");
        output_of(without_engine(&line).arg(&out));
        let run = out.join("latest");
        for (file, schema) in [
            ("plan.json", plan),
            ("history.jsonl", history),
            ("results.json", results),
        ] {
            // Lines of long histories are alike.
            for value in values(&run.join(file)).into_iter().take(2_000) {
                printed.hold(schema, &value, &format!("{file} of {variant}"));
            }
        }
        let written = &values(&run.join("results.json"))[0];
        let asked: Vec<&str> = faults.split(',').collect();
        assert_eq!(
            [
                &written["format"],
                &written["variant"],
                &written["seed"],
                &written["faults"]
            ],
            [&json!(1), &json!(variant), &json!(5), &json!(asked)],
        );
        for (file, schema, entry, wrong) in [
            ("plan.json", plan, "seed", json!("5")),
            ("history.jsonl", history, "type", json!("maybe")),
            ("results.json", results, "verdict", json!("maybe")),
        ] {
            let mut value = values(&run.join(file)).swap_remove(0);
            value[entry] = wrong;
            printed.refuse(schema, &value);
            value.as_object_mut().expect("an object").remove(entry);
            printed.refuse(schema, &value);
        }
    }
}

#[test]
fn the_record_of_a_night_is_what_its_schema_promises() {
    let mut printed = PrintedSchemas::new();
    let night = printed.schema("night");
    let runs = Runs::new("schema-night");
    let campaign = "variants = [\"lock/predecessor\", \"lock/fenced\"]\nfaults = [\"none\", \"expire\"]\nseeds = [1]\n\
                    time = \"12s\"\non = \"sim\"\n";
    fs::write(runs.path().join("night.toml"), campaign).unwrap();
    output_of(without_engine("nightly night.toml --out night").current_dir(runs.path()));
    let lines = values(&runs.path().join("night/night.jsonl"));
    assert!(lines.len() >= 6, "a campaign, four attempts, its end: {lines:?}");
    for line in &lines {
        printed.hold(night, line, "night.jsonl");
    }
    let mut attempt = lines
        .into_iter()
        .find(|line| line["line"] == "attempt")
        .expect("an attempt");
    attempt["verdict"] = json!("maybe");
    printed.refuse(night, &attempt);
}

#[test]
fn a_schedule_is_what_its_schema_promises() {
    let mut printed = PrintedSchemas::new();
    let schedule = printed.schema("schedule");
    let given = json!({"window": [
        {"fault": "pause", "victim": "holder", "at": "5s", "for": "3s", "every": "10s", "times": 2},
        {"fault": "kill", "victim": ["n1", "n2"], "after_operations": 20, "for": "1s"},
        {"fault": "drop-reply", "when": {"asked": "acquire"}, "wire": {"drop-reply": {"op": "create", "nth": 1}}},
    ]});
    printed.hold(schedule, &given, "a schedule");
    for (entry, wrong) in [("fault", json!(7)), ("victm", json!("c1")), ("when", json!("workin"))] {
        let mut other = given.clone();
        other["window"][0][entry] = wrong;
        printed.refuse(schedule, &other);
    }
}
