//! What the program shows instead of what it refuses, and names that options once had.

use crate::common::{Runs, call, output_of, without_engine};

#[test]
fn a_time_that_is_too_short_has_a_longer_one_in_seconds_or_fewer_faults_named() {
    let base = Runs::new("too-short");
    let call = |line: &str| output_of(without_engine(line).current_dir(base.path()));
    let run = "run lock/fenced --on docker --out out";
    for (line, parts) in [
        ("--time 10s", &["is --time 21s;", "into 10 s fits --faults kill\n"][..]),
        (
            "--time 10s --seed 3",
            &["with this seed is --time 17s, with any seed --time 21s"],
        ),
        (
            "--time 10s --faults kill,pause,drop-reply --seed 1",
            &["into 10 s fits --faults kill,drop-reply\n"],
        ),
    ] {
        // It goes on with the others, and gets to where an engine is needed.
        call(&format!("{run} {line}")).ends(255).with(parts);
    }
    call(&format!("{run} --time 3s"))
        .ends(254)
        .with(&["is --time 21s; --anyway runs it all the same"]);
    // The kinds that it names get to where an engine is needed, whatever the seed.
    for seed in 1..=10 {
        call(&format!("{run} --time 10s --faults kill --seed {seed}")).ends(255);
    }
    call(&format!("{run} --time 3s --faults pause"))
        .ends(254)
        .without(&["fits --faults"]);
}

#[test]
fn former_names_of_options_are_understood_and_not_shown() {
    for (line, former, present) in [
        (
            "compare lock --variants protected,fenced --faults pause --time 1s",
            "--runs",
            "--times",
        ),
        ("explore fenced", "--confirm-runs", "--confirm-times"),
        ("selftest L99", "--confirm-runs", "--confirm-times"),
    ] {
        // Each is refused for another reason.
        let refused = |option: &str| call(&format!("{line} {option} 2")).ends(254).without(&[option]).stderr;
        assert_eq!(refused(former), refused(present));
        let command = line.split(' ').next().expect("a command");
        call(&format!("{command} --help"))
            .ends(0)
            .with(&[present])
            .without(&[former]);
    }
}
