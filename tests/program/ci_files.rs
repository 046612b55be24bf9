//! The files for CI systems hold: the shell steps of their jobs make one night of a simulated campaign's parts, from a
//! folder with nothing but the campaign file. What a system does between two jobs (outputs, artefacts) is done here in
//! its place.

use crate::common::{ProgramOutput, output_of, owner};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use yaml_rust2::{Yaml, YamlLoader};

/// What stands in place of a release: an archive with the program, and the file of checksums beside it.
struct Release {
    folder: TempDir,
}

impl Release {
    fn of_program() -> Self {
        let release = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        // A link is unpacked as fast as a hundred megabytes are not.
        release.make(&format!("ln -s {} zooquake", env!("CARGO_BIN_EXE_zooquake")));
        release.pack();
        release
    }

    fn make(&self, line: &str) {
        output_of(Command::new("sh").args(["-ec", line]).current_dir(self.folder.path())).ends(0);
    }

    fn pack(&self) {
        self.make("tar -czf v1.tar.gz zooquake && sha256sum v1.tar.gz zooquake >v1.sha256");
    }

    fn url(&self) -> String {
        format!("file://{}/v1.tar.gz", self.folder.path().display())
    }
}

/// A page below docs.
fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    std::fs::read_to_string(path).expect(name)
}

/// A shell step, and whether it runs after one that failed, too.
struct Step {
    script: String,
    always: bool,
}

/// A job as its system starts it: `shell` is given each script behind `-c`.
struct Job {
    shell: &'static str,
    folder: PathBuf,
    variables: BTreeMap<String, String>,
    steps: Vec<Step>,
}

impl Job {
    /// The output of the first step that failed, or else of the last one.
    fn play(&self) -> ProgramOutput {
        let mut shown: Option<ProgramOutput> = None;
        for Step { script, always } in &self.steps {
            let failed = shown.as_ref().is_some_and(|output| output.code != Some(0));
            if failed && !always {
                continue;
            }
            let mut words = self.shell.split(' ');
            let mut command = Command::new(words.next().expect("a shell"));
            command.args(words).args(["-c", script]).current_dir(&self.folder);
            command.env_remove("ZOOQUAKE_URL").env("ZOOQUAKE_OWNER", owner());
            let output = output_of(command.envs(&self.variables));
            if !failed {
                shown = Some(output);
            }
        }
        shown.expect("a job with a shell step")
    }

    /// It ends well if there is a release, and without one it says so and fetches nothing.
    #[track_caller]
    fn holds(&self, release: Option<&Release>) {
        let output = self.play();
        if release.is_some() {
            output.ends(0);
        } else {
            let output = output.with(&["ZOOQUAKE_URL: give the URL of the archive of a release"]);
            assert_ne!(output.code, Some(0), "{output}");
            assert!(!self.folder.join("zooquake").exists(), "{output}");
        }
    }
}

/// Folders of the jobs of one night.
struct Workspace {
    folder: TempDir,
}

impl Workspace {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    /// What a job finds that checks the repository out: four simulated cells.
    fn checkout(&self, name: &str) -> PathBuf {
        let folder = self.empty(name);
        let campaign = "name = \"ci\"\non = \"sim\"\nvariants = [\"lock/fenced\", \"queue/claimed\"]\n\
                        faults = [\"none\", \"kill\"]\nseeds = [1]\ntime = \"8s\"\n";
        std::fs::write(folder.join("nightly.toml"), campaign).expect("a campaign");
        folder
    }

    fn empty(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().join(name);
        std::fs::create_dir(&folder).expect("a job's folder");
        folder
    }
}

/// Carries what one job leaves into the folder of another.
fn carry(from: &Path, to: &Path) {
    if from.exists() {
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder of artefacts");
        std::fs::rename(from, to).expect("artefacts");
    }
}

/// The night that the last job left: all four cells, in its record, for JUnit, and beside other nights.
#[track_caller]
fn is_whole(night: &Path, last: &Path) {
    let record = std::fs::read_to_string(night.join("night.jsonl")).expect("the record of a night");
    assert_eq!(record.matches("\"verdict\":\"valid\"").count(), 4, "{record}");
    let junit = std::fs::read_to_string(last.join("junit.xml")).expect("a report for JUnit");
    assert_eq!(junit.matches("<testcase ").count(), 4, "{junit}");
    assert!(night.join("summary.md").exists());
    assert!(last.join("nights/nights.html").exists());
}

/// The documents of a YAML file.
#[track_caller]
fn yaml(text: &str) -> Vec<Yaml> {
    YamlLoader::load_from_str(text).expect("YAML")
}

/// A string or a number.
#[track_caller]
fn text(value: &Yaml) -> String {
    match value {
        Yaml::Integer(number) => number.to_string(),
        other => other.as_str().unwrap_or_else(|| panic!("{other:?}")).to_owned(),
    }
}

/// The entries of a list, none where it is missing.
fn list(value: &Yaml) -> &[Yaml] {
    value.as_vec().map_or(&[], Vec::as_slice)
}

/// A mapping of variables, each value by `resolve`.
fn variables(value: &Yaml, resolve: &impl Fn(&str) -> String) -> BTreeMap<String, String> {
    let entries = value.as_hash().into_iter().flatten();
    entries
        .map(|(name, value)| (text(name), resolve(&text(value))))
        .collect()
}

/// GitHub's expressions in a text, by their values.
fn expanded(text: &str, values: &BTreeMap<&str, String>) -> String {
    let mut parts = text.split("${{ ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, part| {
        let (expression, after) = part.split_once(" }}").expect("an expression's end");
        format!("{before}{}{after}", values[expression])
    })
}

fn github(release: Option<&Release>) {
    let file = &yaml(&page("ci/github.yml"))[0];
    let workspace = Workspace::new();
    let mut values = BTreeMap::from([
        ("vars.ZOOQUAKE_URL", release.map(Release::url).unwrap_or_default()),
        ("github.run_id", "7".to_owned()),
        ("github.run_attempt", "1".to_owned()),
    ]);
    let job = |name: &str, folder: &Path, values: &BTreeMap<&str, String>| {
        let job = &file["jobs"][name];
        let resolve = |text: &str| expanded(text, values);
        let mut variables: BTreeMap<_, _> = [&file["env"], &job["env"]]
            .into_iter()
            .flat_map(|env| self::variables(env, &resolve))
            .collect();
        for file in ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
            let path = workspace.folder.path().join(format!("{name}.{file}"));
            variables.insert(file.to_owned(), path.display().to_string());
        }
        let steps = list(&job["steps"]).iter().filter(|step| !step["run"].is_badvalue());
        let steps = steps.map(|step| Step {
            script: text(&step["run"]),
            always: step["if"].as_str() == Some("always()"),
        });
        Job {
            shell: "bash -e",
            folder: folder.to_owned(),
            variables,
            steps: steps.collect(),
        }
    };
    job("date", &workspace.empty("date"), &values).play().ends(0);
    let outputs = std::fs::read_to_string(workspace.folder.path().join("date.GITHUB_OUTPUT")).expect("outputs");
    let date = outputs.trim().strip_prefix("date=").expect("a date").to_owned();
    values.insert("needs.date.outputs.date", date.clone());
    let night = workspace.empty("night");
    let part_job = &file["jobs"]["part"];
    for part in list(&part_job["strategy"]["matrix"]["part"]).iter().map(text) {
        values.insert("matrix.part", part.clone());
        let folder = workspace.checkout(&format!("part-{part}"));
        job("part", &folder, &values).holds(release);
        let uploads = list(&part_job["steps"]).iter();
        let upload = uploads
            .map(|step| &step["with"])
            .find(|with| !with["name"].is_badvalue())
            .expect("an upload");
        let [name, path] = ["name", "path"].map(|entry| expanded(&text(&upload[entry]), &values));
        carry(&folder.join(path), &night.join("parts").join(name));
    }
    job("night", &night, &values).holds(release);
    if release.is_some() {
        is_whole(&night.join(format!("nights/{date}-7-1")), &night);
        let summary = workspace.folder.path().join("night.GITHUB_STEP_SUMMARY");
        assert!(
            std::fs::read_to_string(summary)
                .expect("a summary")
                .contains("all 4 cells")
        );
    }
}

fn gitlab(release: Option<&Release>) {
    let file = &yaml(&page("ci/gitlab.yml"))[0];
    let workspace = Workspace::new();
    let job = |name: &str, folder: &Path, given: &[(&str, String)]| {
        let mut variables = variables(&file["variables"], &str::to_owned);
        // A variable of the project overrules the file's.
        variables.extend(release.map(|release| ("ZOOQUAKE_URL".to_owned(), release.url())));
        let pipeline = [
            ("CI_PIPELINE_CREATED_AT", "2026-11-29T01:02:03Z"),
            ("CI_PIPELINE_ID", "7"),
        ];
        variables.extend(pipeline.map(|(name, value)| (name.to_owned(), value.to_owned())));
        variables.extend(given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let lines = |script: &Yaml| list(script).iter().map(text).collect::<Vec<_>>();
        let first = [lines(&file[".zooquake"]["before_script"]), lines(&file[name]["script"])].concat();
        let mut steps = vec![Step {
            script: first.join("\n"),
            always: false,
        }];
        steps.extend(
            lines(&file[name]["after_script"])
                .into_iter()
                .map(|script| Step { script, always: true }),
        );
        Job {
            shell: "sh -e",
            folder: folder.to_owned(),
            variables,
            steps,
        }
    };
    let night = workspace.checkout("night");
    let parts = text(&file["part"]["parallel"]);
    for part in 1..=parts.parse().expect("a number of parts") {
        let folder = workspace.checkout(&format!("part-{part}"));
        let (index, total) = (
            ("CI_NODE_INDEX", i32::to_string(&part)),
            ("CI_NODE_TOTAL", parts.clone()),
        );
        job("part", &folder, &[index, total]).holds(release);
        let artefact = format!("nights/part-{part}");
        carry(&folder.join(&artefact), &night.join(&artefact));
    }
    job("night", &night, &[]).holds(release);
    if release.is_some() {
        is_whole(&night.join("nights/2026-11-29-7"), &night);
    }
}

fn jenkins(release: Option<&Release>) {
    let page = page("ci.md");
    let scripts: Vec<&str> = page
        .split("sh '''")
        .skip(1)
        .map(|rest| rest.split("'''").next().unwrap_or_default())
        .collect();
    let [part_script, night_script] = scripts[..] else {
        panic!("two shell steps: {scripts:#?}")
    };
    let ends = page
        .split("sh 'exit")
        .nth(1)
        .and_then(|rest| rest.split('\'').next())
        .expect("the night's end");
    let workspace = Workspace::new();
    let job = |folder: &Path, part: &str, scripts: &[&str]| Job {
        shell: "sh -xe",
        folder: folder.to_owned(),
        variables: [
            ("ZOOQUAKE_URL", release.map(Release::url).unwrap_or_default()),
            ("CAMPAIGN", "nightly.toml".to_owned()),
            ("DATE", "2026-11-29".to_owned()),
            ("BUILD_NUMBER", "7".to_owned()),
            ("PART", part.to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into(),
        steps: scripts
            .iter()
            .map(|script| Step {
                script: (*script).to_owned(),
                always: false,
            })
            .collect(),
    };
    let night = workspace.checkout("night");
    for part in ["1", "2", "3", "4"] {
        let name = format!("part-{part}");
        let folder = workspace.checkout(&name);
        job(&folder, part, &[part_script]).holds(release);
        carry(&folder.join(&name), &night.join(&name));
    }
    job(&night, "", &[night_script, &format!("exit{ends}")]).holds(release);
    if release.is_some() {
        is_whole(&night.join("nights/2026-11-29-7"), &night);
    }
}

fn kubernetes(release: Option<&Release>) {
    let page = page("ci.md");
    let manifest = page
        .split("```yaml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("a manifest");
    let jobs = yaml(manifest);
    let workspace = Workspace::new();
    // All pods have one volume.
    let volume = workspace.checkout("nights");
    let configured = BTreeMap::from([
        ("url", release.map(Release::url).unwrap_or_default()),
        ("date", "2026-11-29".to_owned()),
        ("night", "7".to_owned()),
    ]);
    let pod = |job: &Yaml, index: i64| {
        let container = &job["spec"]["template"]["spec"]["containers"][0];
        let variable = |variable: &Yaml| {
            let key = variable["valueFrom"]["configMapKeyRef"]["key"].as_str();
            let value = key.map_or_else(|| text(&variable["value"]), |key| configured[key].clone());
            (text(&variable["name"]), value)
        };
        let mut variables: BTreeMap<_, _> = list(&container["env"]).iter().map(variable).collect();
        // That of the pod's own engine.
        variables.remove("DOCKER_HOST");
        variables.insert("JOB_COMPLETION_INDEX".to_owned(), index.to_string());
        let own = workspace.empty(&format!("{}-{index}", text(&job["metadata"]["name"])));
        Job {
            shell: "sh -eu",
            folder: volume.clone(),
            variables,
            steps: vec![Step {
                script: text(&container["args"][0]).replace("/tmp/bin", &own.display().to_string()),
                always: false,
            }],
        }
    };
    for index in 0..jobs[0]["spec"]["completions"].as_i64().expect("a number of pods") {
        pod(&jobs[0], index).holds(release);
    }
    pod(&jobs[1], 0).holds(release);
    if release.is_some() {
        is_whole(&volume.join("nights/2026-11-29-7"), &volume);
    }
}

#[test]
fn the_action_of_the_repository_runs_a_recipe_or_a_campaign() {
    let action = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("action.yml")).expect("the action");
    let action = &yaml(&action)[0];
    let run = list(&action["runs"]["steps"])
        .iter()
        .find(|step| step["id"].as_str() == Some("night"));
    let run = run.expect("the step that runs");
    let workspace = Workspace::new();
    let built = workspace.empty("action").join("target/release");
    std::fs::create_dir_all(&built).expect("a folder for the program");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_zooquake"), built.join("zooquake")).expect("a link");
    for (name, given, code, said) in [
        (
            "recipe",
            &[
                ("recipe", "lock/fenced"),
                ("faults", "none kill"),
                ("options", "--on sim"),
            ][..],
            0,
            "all 2 cells that were run are as expected",
        ),
        (
            "campaign",
            &[("campaign", "nightly.toml")],
            0,
            "all 4 cells that were run are as expected",
        ),
        (
            "both",
            &[("recipe", "lock/fenced"), ("campaign", "nightly.toml")],
            254,
            "not both",
        ),
    ] {
        let folder = workspace.checkout(name);
        let defaults = action["inputs"].as_hash().expect("inputs").iter();
        let inputs = defaults.map(|(input, value)| (text(input), text(&value["default"])));
        let mut inputs: BTreeMap<String, String> = inputs.collect();
        inputs.insert("out".to_owned(), "night".to_owned());
        inputs.extend(
            given
                .iter()
                .map(|(input, value)| ((*input).to_owned(), (*value).to_owned())),
        );
        let values = inputs
            .iter()
            .map(|(input, value)| (format!("inputs.{input}"), value.clone()));
        let values: BTreeMap<String, String> = values.collect();
        let values = values
            .iter()
            .map(|(input, value)| (input.as_str(), value.clone()))
            .collect();
        let mut variables = variables(&run["env"], &|text| expanded(text, &values));
        let [outputs, summary] = ["outputs", "summary"].map(|file| folder.join(file));
        for (variable, path) in [
            ("GITHUB_ACTION_PATH", workspace.folder.path().join("action")),
            ("GITHUB_OUTPUT", outputs.clone()),
            ("GITHUB_STEP_SUMMARY", summary.clone()),
        ] {
            variables.insert(variable.to_owned(), path.display().to_string());
        }
        let steps = vec![Step {
            script: text(&run["run"]),
            always: false,
        }];
        let job = Job {
            shell: "bash -eo pipefail",
            folder: folder.clone(),
            variables,
            steps,
        };
        let output = job.play().ends(code).with(&[said]);
        if code != 254 {
            assert_eq!(
                std::fs::read_to_string(outputs).expect("outputs"),
                format!("code={code}\n")
            );
            assert!(
                std::fs::read_to_string(summary).expect("a summary").contains("lock/"),
                "{output}"
            );
            assert!(folder.join("night/junit.xml").exists(), "{output}");
        }
    }
}

#[test]
fn each_system_makes_one_night_of_the_parts() {
    let release = Release::of_program();
    for system in [github, gitlab, jenkins, kubernetes] {
        system(Some(&release));
    }
}

#[test]
fn each_system_stops_where_there_is_no_release() {
    for system in [github, gitlab, jenkins, kubernetes] {
        system(None);
    }
}

/// How the files for CI systems fetch the program: from the guard to the line that unpacks it, each without its indent.
fn fetching(text: &str) -> Vec<String> {
    let blocks = text.split("url=${ZOOQUAKE_URL:?").skip(1);
    let until_unpacked = |block: &str| {
        let (before, after) = block.split_once("tar -xzf").expect("a line that unpacks");
        let unpacks = after.lines().next().unwrap_or_default();
        let whole = format!("url=${{ZOOQUAKE_URL:?{before}tar -xzf{unpacks}");
        whole.lines().map(str::trim).collect::<Vec<_>>().join("\n")
    };
    blocks.map(until_unpacked).collect()
}

#[test]
fn no_program_is_fetched_but_that_of_the_checksum() {
    let all = ["ci.md", "ci/github.yml", "ci/gitlab.yml"].map(page).concat();
    let blocks = fetching(&all);
    assert_eq!(blocks.len(), 9);
    let script = &blocks[0];
    assert!(blocks.iter().all(|block| block == script), "{blocks:#?}");
    let release = Release {
        folder: tempfile::tempdir().expect("a folder"),
    };
    release.make("echo >zooquake");
    release.pack();
    for (made, ends_well, said) in [
        ("true", true, "v1.tar.gz: OK"),
        (
            "sha256sum zooquake | sed s/zooquake/v1.tar.gz/ >v1.sha256",
            false,
            "FAILED",
        ),
        ("sha256sum zooquake >v1.sha256", false, "no properly formatted"),
        ("rm v1.sha256", false, "v1.sha256"),
    ] {
        release.make(made);
        for shell in ["bash -e", "bash -eo pipefail", "sh -xe", "sh -eu"] {
            let folder = tempfile::tempdir().expect("a folder");
            let job = |variables: BTreeMap<String, String>| Job {
                shell,
                folder: folder.path().to_owned(),
                variables,
                steps: vec![Step {
                    script: script.clone(),
                    always: false,
                }],
            };
            job(BTreeMap::new()).holds(None);
            let output = job([("ZOOQUAKE_URL".to_owned(), release.url())].into())
                .play()
                .with(&[said]);
            assert_eq!(output.code == Some(0), ends_well, "{shell}: {output}");
            assert_eq!(folder.path().join("zooquake").exists(), ends_well, "{shell}: {output}");
        }
    }
}
