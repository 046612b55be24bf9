//! Nothing endless, nothing from outside: inputs that never end, engines that never answer, limits that are too small.

use crate::common::{ProgramOutput, Runs, call, ended, hand_made, output_of, signal, until, zooquake};
use rustix::fs::{CWD, Mode, mkfifoat};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn pipe(path: &Path) {
    mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).expect("a pipe");
}

/// 10 GB of which none is on the disk.
fn huge(path: &Path) {
    File::create(path)
        .and_then(|file| file.set_len(10_000_000_000))
        .expect("a sparse file");
}

fn with(line: &str, path: &Path) -> ProgramOutput {
    output_of(zooquake(line).arg(path).stdin(Stdio::null()))
}

#[test]
fn what_never_ends_is_refused_as_an_input() {
    let folder = Runs::new("endless");
    let at = |name: &str| folder.path().join(name);
    for line in ["check", "replay", "shrink", "report", "nightly", "pack"] {
        with(line, Path::new("/dev/zero")).ends(254);
    }
    for (name, make) in [("pipe", pipe as fn(&Path)), ("huge", huge)] {
        let campaign = at(&format!("{name}.toml"));
        make(&campaign);
        with("nightly", &campaign).ends(254);
        for file in ["history.jsonl", "plan.json", "tree.json"] {
            let run = at(&format!("{name}-{file}"));
            hand_made(&run);
            let _ = fs::remove_file(run.join(file));
            make(&run.join(file));
            for line in ["check", "replay"] {
                let output = with(line, &run).ends(254);
                assert!(
                    output.has("not a regular file") || output.has("larger than"),
                    "{output}"
                );
            }
        }
    }
    let history = at("pipe.jsonl");
    pipe(&history);
    let to = history.clone();
    let writer = std::thread::spawn(move || fs::write(to, "{}\n"));
    assert_ne!(with("check", &history).code, Some(255), "a pipe that is named is read");
    writer.join().expect("the writer").expect("it is read");
}

#[test]
fn a_recipe_reads_nothing_outside_its_folder() {
    let (outside, recipes) = (Runs::new("outside"), Runs::new("inside"));
    fs::write(outside.path().join("secret"), "family = \"secret-of-somebody\"\n").expect("a file");
    let manifest = |files: &str| format!("family = \"lock\"\ncommand = [\"sh\"]\nfiles = [{files}]\n");
    let recipe = |name: &str, text: &str| {
        let path = recipes.path().join(name);
        fs::create_dir(&path).expect("a folder");
        fs::write(path.join("zooquake.toml"), text).expect("a manifest");
        path
    };
    let link = |to: &str, from: &Path| symlink(outside.path().join(to), from).expect("a link");
    let linked = recipe("linked", "");
    fs::remove_file(linked.join("zooquake.toml")).expect("it is there");
    link("secret", &linked.join("zooquake.toml"));
    let folder = recipe("folder", &manifest("\"target/secret\""));
    link("", &folder.join("target"));
    let file = recipe("file", &manifest(""));
    link("secret", &file.join("own"));
    let deep = recipe("deep", &manifest(""));
    fs::create_dir_all(deep.join("a/b")).expect("folders");
    link("", &deep.join("a/b/c"));
    let fifo = recipe("fifo", &manifest(""));
    pipe(&fifo.join("own"));
    let large = recipe("large", &manifest(""));
    huge(&large.join("own"));
    for path in [linked, folder, file, deep, fifo, large] {
        let output = with("run --faults none --time 2s --on docker", &path).ends(254);
        assert!(!output.has("secret-of-somebody"), "{output}");
    }
}

#[test]
fn a_plan_that_would_never_end_is_refused_with_the_bounds() {
    let folder = Runs::new("unbounded");
    for (name, before, after, why) in [
        ("tick", "\"tick_ms\":250", "\"tick_ms\":0", "50 to 10000 ms"),
        ("session", "\"session_ms\":2000", "\"session_ms\":0", "2 to 20 ticks"),
        (
            "time",
            "\"time_ms\":5000",
            "\"time_ms\":18446744073709551615",
            "longer than a day",
        ),
        ("format", "\"format\":1", "\"format\":7", "format 7"),
    ] {
        let run = folder.path().join(name);
        hand_made(&run);
        let plan = fs::read_to_string(run.join("plan.json"))
            .expect("a plan")
            .replace(before, after);
        fs::write(run.join("plan.json"), plan).expect("a plan");
        for line in ["replay", "replay --on sim", "shrink --on sim"] {
            let output = with(line, &run).ends(254).with(&[why]);
            assert!(output.stderr.contains(name), "it names the run: {output}");
        }
    }
}

#[test]
fn a_newline_from_elsewhere_begins_no_line() {
    let folder = Runs::new("newlines");
    let run = folder.path().join("run\n::error::name");
    hand_made(&run);
    let foreign = "x\\n::error::mine\\n##[error]mine";
    let event = |index: usize, kind: &str| {
        format!(
            r#"{{"index":{index},"time":{index},"process":"c1{foreign}","type":"{kind}","f":"{foreign}","value":{{"{foreign}":"{foreign}"}},"error":"{foreign}"}}"#
        )
    };
    let events: Vec<String> = (0..4)
        .map(|index| event(index, ["invoke", "ok", "info", "invoke"][index]))
        .collect();
    fs::write(run.join("history.jsonl"), events.join("\n") + "\n").expect("a history");
    let alone = folder.path().join("alone.jsonl");
    fs::write(&alone, events.join("\n") + "\n").expect("a history");
    for line in ["check", "check --json", "replay", "report", "pack", "shrink"] {
        for input in [&run, &alone, &folder.path().join("no\n::error::such")] {
            // A pack is written where one is.
            let output = output_of(
                zooquake(line)
                    .arg(input)
                    .current_dir(folder.path())
                    .stdin(Stdio::null()),
            );
            let command = |line: &str| line.trim_start().starts_with("::") || line.contains("##[");
            let lines = || output.stdout.lines().chain(output.stderr.lines());
            assert!(!lines().any(command), "{line}: {output}");
        }
    }
}

#[test]
fn limits_that_are_too_small_to_work_in_are_refused_at_the_start() {
    for (limit, name) in [("-v 300000", "address space"), ("-n 64", "open files")] {
        let line = format!("ulimit {limit}; exec {} list", env!("CARGO_BIN_EXE_zooquake"));
        let output = output_of(Command::new("sh").args(["-c", &line])).ends(255);
        output.with(&[name, "ulimit"]);
    }
    call("list").ends(0);
}

/// An engine that answers pings, and other requests with a head and a piece that comes again and again, or with
/// nothing.
fn engine(folder: &Path, answer: &'static [&'static str]) -> (String, Arc<AtomicUsize>) {
    let socket = folder.join("engine.sock");
    let listener = UnixListener::bind(&socket).expect("a socket");
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let count = Arc::clone(&count);
            std::thread::spawn(move || {
                let mut request = [0; 4096];
                let read = stream.read(&mut request).unwrap_or(0);
                if request[..read].windows(6).any(|part| part == b"/_ping") {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK");
                    return;
                }
                count.fetch_add(1, Ordering::SeqCst);
                let [head, piece] = answer else {
                    // Until it is left.
                    return drop(stream.read(&mut request));
                };
                let _ = stream.write_all(head.as_bytes());
                while stream.write_all(piece.repeat(4096).as_bytes()).is_ok() {}
            });
        }
    });
    (format!("unix://{}", socket.display()), asked)
}

const RUN: &str = "run lock/fenced --faults none --time 5s --out";

#[test]
fn an_engine_that_does_not_answer_keeps_nobody_from_stopping() {
    let folder = Runs::new("silent-engine");
    let (address, asked) = engine(folder.path(), &[]);
    for name in ["TERM", "INT"] {
        let before = asked.load(Ordering::SeqCst);
        let mut command = zooquake(RUN);
        command.arg(folder.path().join("runs")).env("DOCKER_HOST", &address);
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starting zooquake");
        let hangs = || (asked.load(Ordering::SeqCst) > before).then_some(());
        until("a request that hangs", Duration::from_secs(60), hangs);
        signal(&child, name);
        let output = Instant::now();
        ended(child).ends(255).with(&["interrupted"]);
        assert!(output.elapsed() < Duration::from_secs(30), "{:?}", output.elapsed());
    }
}

#[test]
fn an_answer_without_an_end_ends_the_run_and_fills_no_memory() {
    let folder = Runs::new("endless-engine");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
    let (address, _) = engine(folder.path(), Box::leak(Box::new([head, "["])));
    // Three attempts, each of them bounded.
    let line = format!("ulimit -v 2000000; exec {} {RUN} runs", env!("CARGO_BIN_EXE_zooquake"));
    let mut command = Command::new("sh");
    command
        .args(["-c", &line])
        .env("DOCKER_HOST", address)
        .current_dir(folder.path());
    output_of(&mut command).ends(255).with(&["longer than 16 MiB"]);
}
