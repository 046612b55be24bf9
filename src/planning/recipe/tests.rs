use super::*;
use crate::planning::case::Case;
use crate::planning::spec::RunSpec;
use crate::planning::{admission, reproduction};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;
use zooquake_backend::images::libraries;
use zooquake_history::plan::{Capabilities, Delivery, Resource};

const SMALL: &str = "family = \"lock\"\ncommand = [\"python3\", \"lock.py\"]\nfiles = [\"lock.py\"]\n";

/// A folder of a recipe with this manifest and a file `lock.py`; its path, and what removes it.
fn folder(manifest: &str) -> (String, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my-lock");
    fs::create_dir(&path).unwrap();
    fs::write(path.join(MANIFEST), manifest).unwrap();
    fs::write(path.join("lock.py"), "print()").unwrap();
    (path.to_str().unwrap().to_string(), folder)
}

#[test]
fn three_lines_are_a_recipe_with_the_settings_of_its_family() {
    let (path, _folder) = folder(SMALL);
    let workload = read(&path).unwrap();
    assert_eq!(workload.name(), "lock/my-lock");
    assert_eq!(workload.contenders, ["/lock"]);
    assert_eq!((workload.resource, workload.fenced), (Resource::External, false));
    let recipe = workload.recipe.unwrap();
    assert_eq!((recipe.folder, recipe.carried), (path, vec!["lock.py".to_string()]));
    assert_eq!(recipe.files.keys().collect::<Vec<_>>(), ["lock.py", MANIFEST]);
    // `printf 'print()' | sha256sum`
    let hash = "525d513313416cf187f44fa87e1753ee6d11552c22097537ddc32b4ed34fa68f";
    assert_eq!(recipe.files["lock.py"], hash);
}

#[test]
fn a_recipe_may_contend_below_a_nested_parent() {
    let (path, _folder) = folder(&format!("{SMALL}contenders = [\"/batch/locks\"]\n"));
    assert_eq!(read(&path).unwrap().contenders, ["/batch/locks"]);
}

#[test]
fn capabilities_choose_the_variant_whose_settings_hold() {
    let (path, _folder) =
        folder("family = \"queue\"\ncommand = [\"./q\"]\n[capabilities]\ndelivery = \"at-least-once\"\n");
    let claimed = read(&path).unwrap();
    assert_eq!(claimed.capabilities().delivery, Delivery::AtLeastOnce);
    assert_eq!(
        claimed.contenders,
        crate::planning::names::workload("queue/claimed").unwrap().contenders
    );
    assert!(
        claimed.accepted.is_empty(),
        "what is known of a built-in variant is not known of this one"
    );
}

#[test]
fn what_is_known_is_its_own() {
    let known =
        "[[known]]\nanomaly = \"stale-write\"\nfaults = [\"pause\", \"disconnect\"]\nreason = \"r\"\nsource = \"s\"\n";
    let (path, _folder) = folder(&format!("{SMALL}{known}"));
    let accepted = read(&path).unwrap().accepted;
    assert_eq!(accepted[0].anomaly, "stale-write");
    assert_eq!(accepted[0].faults, ["pause", "disconnect"]);
}

#[test]
fn mistakes_are_named_with_their_line() {
    let wrong = |manifest: &str, parts: &[&str]| {
        let (path, _folder) = folder(manifest);
        let said = read(&path).unwrap_err();
        for part in parts {
            assert!(said.contains(part), "{said:?} should say {part:?}");
        }
    };
    let known = |anomaly: &str, fault: &str| {
        format!("{SMALL}[[known]]\nanomaly = \"{anomaly}\"\nfaults = [\"{fault}\"]\nreason = \"r\"\nsource = \"s\"\n")
    };
    wrong(
        "family = \"lok\"\ncommand = [\"x\"]",
        &["line 1", "did you mean `lock`?"],
    );
    wrong(&format!("{SMALL}colour = 3"), &["line 4", "colour"]);
    wrong("family = \"lock\"", &["command"]);
    wrong("family = \"lock\"\ncommand = []", &["line 2", "the program"]);
    wrong(&format!("{SMALL}name = \"fenced\""), &["line 4", "built in"]);
    wrong(&format!("{SMALL}name = \"../x\""), &["line 4", "letters"]);
    wrong(&format!("{SMALL}contenders = [\"lock\"]"), &["line 4", "/lock"]);
    wrong(
        &format!("{SMALL}image = \"a b\""),
        &["line 4", "not the name of an image"],
    );
    wrong(&format!("{SMALL}image = \"a\"\nbuild = \".\""), &["line 5", "not both"]);
    wrong(
        &known("stale-wrte", "pause"),
        &["line 5", "did you mean `stale-write`?"],
    );
    wrong(&known("stale-write", "pauze"), &["line 6", "did you mean `pause`?"]);
    wrong(
        "family = \"lock\"\ncommand = [\"x\"]\nfiles = [\"none.py\"]",
        &["none.py"],
    );
    wrong(
        "family = \"lock\"\ncommand = [\"x\"]\nfiles = [\"../lock.py\"]",
        &["../lock.py", "below"],
    );
    let said = read("./no-such-folder").unwrap_err();
    assert!(said.contains("./no-such-folder") && said.contains("variant"), "{said}");
}

#[test]
fn what_tools_make_is_no_part_of_it_but_what_is_carried_is() {
    let (path, _folder) = folder("family = \"lock\"\ncommand = [\"target/release/x\"]\nfiles = [\"target/release/x\"]");
    let release = Path::new(&path).join("target/release");
    fs::create_dir_all(&release).unwrap();
    fs::write(release.join("x"), "ELF").unwrap();
    fs::write(release.join("other"), "ELF").unwrap();
    fs::set_permissions(release.join("x"), fs::Permissions::from_mode(0o755)).unwrap();
    let source = Source::read(Path::new(&path), &["target/release/x".into()]).unwrap();
    assert_eq!(
        source.files.keys().collect::<Vec<_>>(),
        ["lock.py", "target/release/x", MANIFEST]
    );
    assert!(source.files["target/release/x"].executable);
    let copy = tempfile::tempdir().unwrap();
    source.write(copy.path()).unwrap();
    assert_eq!(Source::read(copy.path(), &["target/release/x".into()]).unwrap(), source);
}

#[test]
fn a_folder_is_carried_with_all_that_is_in_it() {
    let (path, _folder) = folder("family = \"lock\"\ncommand = [\"x\"]\nfiles = [\"target\", \"lib\"]");
    let root = Path::new(&path);
    for file in ["target/classes/A.class", "lib/a.jar", "lib/more/b.jar", "library.jar"] {
        fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        fs::write(root.join(file), file).unwrap();
    }
    let carried = ["target".to_string(), "lib".to_string()];
    let source = Source::read(root, &carried).unwrap();
    let paths: Vec<&String> = source.carried(&carried).map(|(path, _)| path).collect();
    assert_eq!(paths, ["lib/a.jar", "lib/more/b.jar", "target/classes/A.class"]);
    assert_eq!(read(&path).unwrap().recipe.unwrap().files.len(), source.files.len());
    fs::create_dir(root.join("empty")).unwrap();
    let refused = |path: &str| format!("{:#}", Source::read(root, &[path.to_string()]).unwrap_err());
    assert!(
        refused("empty").contains("folder without files"),
        "{}",
        refused("empty")
    );
    std::os::unix::fs::symlink(root.join("lib"), root.join("target/linked")).unwrap();
    assert!(
        refused("target").contains("not a regular file"),
        "{}",
        refused("target")
    );
}

#[test]
fn what_a_program_of_this_host_loads_is_kept_with_it() {
    let (path, _folder) = folder("family = \"lock\"\nprepare = [\"true\"]\ncommand = [\"./x\"]\nfiles = [\"x\"]");
    let program = Path::new(&path).join("x");
    fs::copy("/bin/true", &program).unwrap();
    let recipe = read(&path).unwrap().recipe.unwrap();
    let source = Source::from_recipe(Path::new(&path), &recipe).unwrap();
    let loaded = libraries::shared_libraries(&program).unwrap();
    assert!(source.libraries().eq(&loaded));
    assert!(loaded.keys().all(|path| recipe.files.contains_key(path)), "{recipe:?}");
    let copy = tempfile::tempdir().unwrap();
    source.write(copy.path()).unwrap();
    assert_eq!(Source::from_recipe(copy.path(), &recipe).unwrap(), source);
    let mut elsewhere = recipe.clone();
    elsewhere.build = Some(".".into());
    assert_eq!(
        Source::from_recipe(Path::new(&path), &elsewhere)
            .unwrap()
            .libraries()
            .count(),
        0
    );
}

#[test]
fn a_folder_that_has_changed_is_told_file_by_file() {
    let (path, _folder) = folder(SMALL);
    let before = read(&path).unwrap().recipe.unwrap().files;
    let path = Path::new(&path);
    fs::write(path.join("lock.py"), "print(1)").unwrap();
    fs::write(path.join("new.py"), "").unwrap();
    let source = Source::read(path, &[]).unwrap();
    assert_eq!(source.differences(&before), ["lock.py has changed", "new.py is new"]);
    assert_eq!(Source::default().differences(&before).len(), 2);
    symlink("lock.py", path.join("link.py")).unwrap();
    assert!(Source::read(path, &[]).unwrap_err().to_string().contains("link.py"));
}

#[test]
fn a_run_of_it_has_a_line_that_draws_the_same_plan() {
    let (path, _folder) = folder(SMALL);
    let spec = RunSpec::from_args([path.as_str(), "--seed", "7", "--faults", "pause"]).unwrap();
    let mut plan = spec.plan().unwrap();
    plan.workload.recipe.as_mut().unwrap().digest = Some("sha256:00".into());
    let case = Case::new(plan.clone()).unwrap();
    assert_eq!(admission::check(&case), Ok(()));
    let line = reproduction::drawn(&case).unwrap();
    assert!(line.contains(&format!("run {path} --seed 7 --faults pause")), "{line}");
    fs::write(Path::new(&path).join("lock.py"), "print(2)").unwrap();
    assert_eq!(reproduction::drawn(&case), None, "another recipe is another run");
    let lines = reproduction::lines(Path::new("runs/x"), &plan);
    assert!(lines[1].ends_with("replay runs/x --yes"), "{lines:?}");
}

#[test]
fn a_plan_from_elsewhere_names_nothing_outside_its_recipe() {
    let (path, _folder) = folder(SMALL);
    let refused = |change: fn(&mut Workload)| {
        let spec = RunSpec::from_args([path.as_str(), "--seed", "7"]).unwrap();
        let mut plan = spec.plan().unwrap();
        change(&mut plan.workload);
        admission::admit(plan).unwrap_err()
    };
    assert!(refused(|workload| workload.variant = "../x".into()).contains("../x"));
    assert!(refused(|workload| workload.family = "lok".into()).contains("lok"));
    assert!(
        refused(|workload| workload.recipe.as_mut().unwrap().carried.push("/etc/passwd".into()))
            .contains("/etc/passwd")
    );
    assert!(refused(|workload| workload.recipe.as_mut().unwrap().command.clear()).contains("command"));
    assert!(refused(|workload| workload.recipe.as_mut().unwrap().image = Some("-v".into())).contains("-v"));
}

#[test]
fn the_table_of_capabilities_has_each_key_and_each_value() {
    let quoted = |text: &str| -> Vec<String> { text.split('`').skip(1).step_by(2).map(String::from).collect() };
    let expected = |line: &str| {
        let error = toml::from_str::<Capabilities>(line).unwrap_err().to_string();
        quoted(error.rsplit_once("expected").unwrap().1)
    };
    let mut code = Vec::new();
    for key in expected("none = 1") {
        let values = match toml::from_str::<Capabilities>(&format!("{key} = true")) {
            Ok(_) => vec!["false".into(), "true".into()],
            Err(_) if key == "capacity" => vec!["1".into(), String::new()],
            Err(_) if key.ends_with("_ms") => vec!["0".into(), String::new()],
            Err(_) => expected(&format!("{key} = \"none\""))
                .iter()
                .map(|value| format!("\"{value}\""))
                .collect(),
        };
        code.extend(values.into_iter().map(|value| (key.clone(), value)));
    }
    let page = fs::read_to_string("docs/recipes.md").unwrap();
    let section = page
        .split("### Capabilities")
        .nth(1)
        .unwrap()
        .split("\n## ")
        .next()
        .unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.map(|row| row.split('|').map(|cell| quoted(cell).concat()).collect::<Vec<_>>());
    let table: Vec<_> = cells.map(|cells| (cells[1].clone(), cells[2].clone())).collect();
    assert_eq!(table, code);
    for (key, value) in table.iter().filter(|(_, value)| !value.is_empty()) {
        let given: Capabilities = toml::from_str(&format!("{key} = {value}")).unwrap();
        let first = table.iter().find(|(other, _)| other == key).unwrap().1 == *value;
        assert_eq!(given == Capabilities::NONE, first, "{key} = {value}");
    }
}
