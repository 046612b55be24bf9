//! A run whose report is watched while it goes on.

use crate::common::{EnsembleSlot, Runs, assert_nothing_left_of, ended, start, until};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The page at this address; `None` once no server answers there.
fn page(address: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\n\r\n").ok()?;
    let mut page = String::new();
    stream.read_to_string(&mut page).ok()?;
    Some(page)
}

#[test]
fn a_report_grows_while_its_run_goes_on_and_watching_changes_nothing() {
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new("live");
    let mut run = start(&runs, "lock/children --faults none --time 6s --seed 1 --live");
    let mut output = BufReader::new(run.stderr.take().expect("its stderr"))
        .lines()
        .map_while(Result::ok);
    let address = output.find_map(|line| Some(line.split_once("http://")?.1.split_once('/')?.0.to_owned()));
    let address = address.expect("an address");
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    // What is not read would stop the program.
    let output = std::thread::spawn(move || output.collect::<Vec<_>>().join("\n"));
    let shows = |what: &str| {
        until(what, Duration::from_secs(120), || {
            page(&address)?.contains(what).then_some(())
        })
    };
    shows("come up");
    shows("operations and faults go on");
    let over = ended(run);
    assert_eq!(over.code, Some(0), "{over}\n{}", output.join().expect("its lines"));
    assert_eq!(page(&address), None);
    assert!(runs.only().join("report.html").exists());
    assert_nothing_left_of(&runs.id());
}
