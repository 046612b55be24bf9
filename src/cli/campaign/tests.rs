use super::*;
use crate::nightly::seeds::{DrawnSeeds, SeedOrigin};
use crate::planning::admission;

const DATE: &str = "2026-11-20";

const SMALL: &str = "variants = [\"lock/fenced\"]\nfaults = [\"pause\", \"kill, partition\"]\n";

#[test]
fn the_example_is_a_campaign() {
    let campaign = read(EXAMPLE, "built-in", Path::new("")).unwrap();
    assert!(campaign.cells(DATE).len() >= 20, "{campaign:?}");
    for cell in campaign.cells(DATE) {
        let plan = campaign.spec(&cell, cell.seed).plan().unwrap();
        assert_eq!(admission::shortfalls(&plan), [""; 0], "{cell}");
    }
}

#[test]
fn what_is_not_given_is_as_on_the_command_line() {
    let campaign = read(SMALL, "small", Path::new("")).unwrap();
    assert_eq!((campaign.name.as_str(), campaign.time_ms), ("small", 60_000));
    assert_eq!(campaign.seeds, SeedSource::Listed(vec![1]));
    assert_eq!(campaign.faults, ["pause", "kill,partition"]);
    assert_eq!((campaign.cluster.servers, campaign.cluster.clients), (3, 5));
    let more = format!(
        "{SMALL}name = \"n\"\nseeds = [3, 3, 4]\ntime = \"2m\"\nservers = 5\nclients = 7\ntiming = \"500/4/1000\"\n\
         zookeeper = \"zookeeper:3.9\"\n"
    );
    let campaign = read(&more, "small", Path::new("")).unwrap();
    assert_eq!(
        (campaign.seeds, campaign.time_ms),
        (SeedSource::Listed(vec![3, 4]), 120_000)
    );
    assert_eq!((campaign.cluster.servers, campaign.cluster.clients), (5, 7));
    assert!(campaign.cluster.timing.unwrap().hazardous());
    assert_eq!(campaign.cluster.image.as_deref(), Some("zookeeper:3.9"));
}

#[test]
fn seeds_may_be_drawn_from_the_date_with_others_pinned() {
    let text = format!(
        "{SMALL}seeds = {{ count = 2, from = \"date\" }}\n[[cells]]\nvariants = [\"lock/f*\"]\n\
         faults = [\"pause, kill\"]\nseeds = [7, 7, 9]\n"
    );
    let campaign = read(&text, "small", Path::new("")).unwrap();
    let drawn = DrawnSeeds {
        count: 2,
        from: SeedOrigin::Date,
    };
    assert_eq!(campaign.seeds, SeedSource::Drawn(drawn));
    let pinned = PinnedCells {
        variants: vec!["lock/fenced".into()],
        faults: vec!["kill,pause".into()],
        seeds: vec![7, 9],
    };
    assert_eq!(campaign.cells.len(), 1);
    let mut kinds: Vec<&str> = campaign.cells[0].faults[0].split(',').collect();
    kinds.sort_unstable();
    assert_eq!(
        PinnedCells {
            faults: vec![kinds.join(",")],
            ..campaign.cells[0].clone()
        },
        pinned
    );
    assert_eq!(campaign.cells(DATE).len(), 6);
}

#[test]
fn stars_expand_and_nothing_comes_twice() {
    let campaign = read(
        "variants = [\"lock/fenced\", \"lock/*\"]\nfaults = [\"none\", \"none\"]",
        "x",
        Path::new(""),
    )
    .unwrap();
    assert_eq!(campaign.variants[0], "lock/fenced");
    assert_eq!(campaign.variants.iter().filter(|v| *v == "lock/fenced").count(), 1);
    assert!(campaign.variants.len() >= 5 && campaign.faults == ["none"]);
}

#[test]
fn mistakes_are_named_with_their_line() {
    let wrong = |text: &str, parts: &[&str]| {
        let said = read(text, "x", Path::new("")).unwrap_err();
        for part in parts {
            assert!(said.contains(part), "{said:?} should say {part:?}");
        }
    };
    wrong(&format!("{SMALL}colour = 3\n"), &["line 3", "colour", "variants"]);
    wrong(
        "faults = [\"pause\"]\nvariants = [\n  \"lock/fenced\",\n  \"lock/fencd\",\n]",
        &["line 4", "`variants`", "did you mean `lock/fenced`?"],
    );
    wrong(
        "variants = [\"lock/*\"]\nfaults = [\"pauze\"]",
        &["line 2", "did you mean `pause`?"],
    );
    wrong(&format!("{SMALL}time = \"soon\""), &["line 3", "`time`", "60s"]);
    wrong(&format!("{SMALL}servers = 2"), &["line 3", "1, 3 or 5"]);
    wrong(&format!("{SMALL}clients = 0"), &["line 3", "1 to 50"]);
    wrong(&format!("{SMALL}zookeeper = \"3.9.3\""), &["line 3", "zookeeper:3.9.3"]);
    wrong(&format!("{SMALL}seeds = []"), &["line 3", "at least one"]);
    wrong(&format!("{SMALL}seeds = [-1]"), &["line 3", "`seeds`", "-1", "from 0"]);
    wrong(&format!("{SMALL}seeds = 4"), &["line 3", "`seeds`", "count = 4"]);
    wrong(
        &format!("{SMALL}seeds = {{ count = 4 }}"),
        &["line 3", "`from`", "\"date\""],
    );
    wrong(
        &format!("{SMALL}seeds = {{ from = \"date\" }}"),
        &["line 3", "`count`", "1 to 99"],
    );
    wrong(
        &format!("{SMALL}seeds = {{ count = 0, from = \"date\" }}"),
        &["line 3", "1 to 99"],
    );
    wrong(
        &format!("{SMALL}seeds = {{ count = 100, from = \"date\" }}"),
        &["line 3", "1 to 99"],
    );
    wrong(
        &format!("{SMALL}seeds = {{ count = 2, from = \"time\" }}"),
        &["line 3", "\"date\""],
    );
    wrong(
        &format!("{SMALL}seeds = {{ count = 2, from = \"date\", size = 1 }}"),
        &["line 3", "size"],
    );
    let pinned = "[[cells]]\nvariants = [\"lock/fenced\"]\nfaults = [\"pause\"]\n";
    wrong(&format!("{SMALL}{pinned}"), &["line 3", "seeds"]);
    let drawn = "seeds = { count = 1, from = \"date\" }";
    wrong(
        &format!("{SMALL}{pinned}{drawn}"),
        &["line 6", "`cells.seeds`", "pinned", "seeds = [7]"],
    );
    let typo = pinned.replace("fenced", "fencd");
    wrong(
        &format!("{SMALL}{typo}seeds = [7]"),
        &["line 4", "`cells.variants`", "did you mean `lock/fenced`?"],
    );
    wrong("variants = []\nfaults = [\"pause\"]", &["`variants` is empty"]);
    wrong("variants = [\"lock/*\"]", &["faults"]);
}

#[test]
fn a_recipe_of_another_folder_is_named_normalized() {
    for (path, short) in [
        ("a/../b", "b"),
        ("a/..", "."),
        ("../../b", "../../b"),
        ("/a/b/../c", "/a/c"),
    ] {
        assert_eq!(normalized(Path::new(path)), Path::new(short));
    }
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    for folder in ["nights", "mine", "far/nights", "far/mine"] {
        std::fs::create_dir_all(at(folder)).unwrap();
    }
    std::os::unix::fs::symlink(at("far/nights"), at("link")).unwrap();
    let named = |folder: &str, path: &str| PathBuf::from(below(&at(folder), path));
    assert_eq!(named("nights", "../mine"), at("mine"));
    assert_eq!(named("nights", "./x"), at("nights/x"));
    assert_eq!(named("link", "../mine"), at("link/../mine"), "that is far/mine");
    assert_eq!(
        named("nights", "../gone"),
        at("nights/../gone"),
        "it will be refused by the name that was given"
    );
}
