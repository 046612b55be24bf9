//! What a run of somebody else's is handed on by: packs, and command lines that reproduce it. No ensemble is needed.

use crate::common::{NO_RESULTS, ProgramOutput, Runs, hand_made, output_of, zooquake};
use std::path::Path;

/// The command lines on the page of a run.
fn lines_of_page(folder: &Path) -> Vec<String> {
    let page = std::fs::read_to_string(folder.join("report.html")).expect("the page");
    let (_, rest) = page.split_once("<pre class=\"commands\">").expect("commands");
    let (commands, _) = rest.split_once("</pre>").expect("their end");
    let mut text = String::new();
    for piece in commands.split('<') {
        text += piece.split_once('>').map_or(piece, |(_, text)| text);
    }
    for (entity, plain) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, plain);
    }
    text.lines().map(String::from).collect()
}

/// What a shell hands to `zooquake`, if that is a program which shows its arguments.
fn arguments_by_shell(line: &str, bin: &Path) -> Vec<String> {
    let mut shell = std::process::Command::new("sh");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let shown = output_of(shell.args(["-c", line]).env("PATH", path)).ends(0).stdout;
    shown.split_terminator('\0').map(String::from).collect()
}

#[test]
fn a_line_that_reproduces_a_run_works_as_it_is_printed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let base = Runs::new("lines");
    let (found, stub) = (base.path().join("found"), base.path().join("stub"));
    for bin in [&found, &stub] {
        std::fs::create_dir(bin).unwrap();
    }
    let program = env!("CARGO_BIN_EXE_zooquake");
    symlink(program, found.join("zooquake")).unwrap();
    let script = stub.join("zooquake");
    std::fs::write(&script, "#!/bin/sh\nprintf '%s\\0' \"$@\"\n").unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let work = |lines: &[String], path: &str| {
        assert_eq!(lines.len(), 2, "a check and a replay: {lines:?}");
        for (line, command) in lines.iter().zip(["check", "replay"]) {
            assert!(!line.contains(char::is_control), "{line:?}");
            assert_eq!(arguments_by_shell(line, &stub), [command, path]);
        }
    };

    // Where no shell finds it, the program is named by its path.
    let run = base
        .path()
        .join("\u{1b}[2J it's \"$(touch x)\"; `touch x` $HOME&<b> --keep\ntwo\n");
    hand_made(&run);
    output_of(zooquake("check").arg(&run)).ends(2);
    let lines = lines_of_page(&run).into_iter();
    let named = lines.map(|line| line.strip_prefix(program).map(|rest| format!("zooquake{rest}")));
    work(
        &named.map(|line| line.expect("the program")).collect::<Vec<_>>(),
        &format!("{}/", run.display()),
    );

    // Where one does, by its name; and a pack by its own path, not by where it was unpacked.
    let run = base.path().join("run");
    hand_made(&run);
    std::fs::write(run.join("results.json"), NO_RESULTS).unwrap();
    let pack = base.path().join("it's a $(touch x).zooquake.tar.gz");
    let pack = pack.to_str().unwrap();
    output_of(zooquake("pack --out").arg(pack).arg(&run)).ends(0);
    output_of(zooquake("report").arg(pack).env("PATH", &found).current_dir(&stub)).ends(0);
    work(&lines_of_page(&stub.join("run")), pack);
    assert!(!Path::new("x").exists(), "nothing was run");
}

#[test]
fn the_lines_after_packing_begin_with_unpacking_and_work_as_they_are_printed() {
    let base = Runs::new("unpacking");
    let bin = base.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_zooquake"), bin.join("zooquake")).unwrap();
    hand_made(&base.path().join("a run"));
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut pack = zooquake("pack --out out.tar.gz");
    let packed = output_of(pack.arg("a run").current_dir(base.path()).env("PATH", &path)).ends(0);
    let commands: Vec<&str> = packed.stdout.lines().skip(1).map(str::trim_start).collect();
    assert_eq!(commands.len(), 3, "{packed}");
    assert!(commands[2].contains("zooquake replay"), "{packed}");
    let elsewhere = base.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::copy(base.path().join("out.tar.gz"), elsewhere.join("out.tar.gz")).unwrap();
    let in_shell = |line: &str| {
        let mut shell = std::process::Command::new("sh");
        output_of(shell.args(["-c", line]).current_dir(&elsewhere).env("PATH", &path))
    };
    in_shell(commands[0]).ends(0);
    in_shell(commands[1]).ends(2).with(&["verdict: unknown"]);
    let readme = std::fs::read_to_string(elsewhere.join("a run/README.txt")).expect("what explains it");
    commands
        .iter()
        .for_each(|command| assert!(readme.contains(command), "{readme}"));
    let mut json = zooquake("pack --json --out again.tar.gz");
    let json = output_of(json.arg(elsewhere.join("a run")).current_dir(base.path()))
        .ends(0)
        .json();
    assert_eq!(json["commands"][0], "tar xzf again.tar.gz");
}

#[test]
fn a_run_packs_itself_where_it_lies() {
    let base = Runs::new("pack-here");
    let run = base.path().join("run");
    hand_made(&run);
    for _ in 0..2 {
        output_of(zooquake("pack .").current_dir(&run)).ends(0);
    }
    let pack = run.join("run.zooquake.tar.gz");
    output_of(zooquake("pack").arg(&pack))
        .ends(254)
        .with(&["is packed already"]);
    output_of(zooquake("check").arg(&pack)).ends(2);
    let mut names: Vec<_> = std::fs::read_dir(&run)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["history.jsonl", "plan.json", "run.zooquake.tar.gz"]);
}

/// An engine that answers pings, and whether it has this image; every other request fails.
fn engine(socket: &Path, image: &str, has: bool) {
    use std::io::{BufRead, BufReader, Write};
    let listener = std::os::unix::net::UnixListener::bind(socket).expect("a socket");
    let named = format!("/images/{image}/json");
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let mut request = String::new();
            let mut lines = BufReader::new(&connection);
            lines.read_line(&mut request).expect("a request");
            let mut header = String::new();
            while lines.read_line(&mut header).is_ok_and(|read| read > 2) {
                header.clear();
            }
            let (status, body) = match request.split_whitespace().nth(1).unwrap_or_default() {
                "/_ping" => ("200 OK", "OK"),
                path if path.ends_with(&named) && has => ("200 OK", "{\"Id\":\"sha256:00\"}"),
                path if path.ends_with(&named) => ("404 Not Found", "{\"message\":\"not here\"}"),
                _ => ("500 Internal Server Error", "{\"message\":\"it can do nothing\"}"),
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            // The program may have ended meanwhile.
            let _ = (&connection).write_all(answer.as_bytes());
        }
    });
}

#[test]
fn an_image_that_a_plan_names_is_not_pulled_unasked() {
    let base = Runs::new("image");
    let (run, pack) = (base.path().join("run"), base.path().join("foreign.zooquake.tar.gz"));
    hand_made(&run);
    let plan = std::fs::read_to_string(run.join("plan.json")).unwrap();
    let image = "registry.example/zookeeper:1";
    std::fs::write(
        run.join("plan.json"),
        plan.replace("\"image\":null", &format!("\"image\":{image:?}")),
    )
    .unwrap();
    output_of(zooquake("pack --out").args([&pack, &run])).ends(0);
    let (with, without) = (base.path().join("with.sock"), base.path().join("without.sock"));
    engine(&with, image, true);
    engine(&without, image, false);
    let replay = |socket: &Path, line: &str| -> ProgramOutput {
        let mut command = zooquake(line);
        command.arg(&pack).arg("--out").arg(base.path().join("out"));
        command.env("DOCKER_HOST", format!("unix://{}", socket.display()));
        output_of(command.stdin(std::process::Stdio::null()))
    };
    let pulling = format!("pulling {image}");
    let asked = replay(&without, "replay").ends(254);
    asked.with(&[image, "--yes"]).without(&["pulling"]);
    replay(&without, "replay --yes").ends(255).with(&[&pulling]);
    // One that is there is nobody's question.
    replay(&with, "replay").ends(255).without(&[&pulling]);
}
