//! What a reader finds about the ensemble's own elections.

use crate::common::{results, shows, without_scripts};
use zooquake_checkers::ensemble::{Account, VoteCast};

fn vote(ms: i64, sid: i64, leader: i64, zxid: &str, rule: Option<&str>) -> VoteCast {
    VoteCast {
        ms,
        sid,
        round: 2,
        leader,
        zxid: zxid.to_owned(),
        epoch: 1,
        rule: rule.map(str::to_owned),
        counted: sid != 5,
    }
}

/// The textbook's: 3 is ahead, 4 and 5 change their votes; 5 is not heard in time.
fn election() -> Account {
    Account {
        winner: "n3".to_owned(),
        sid: 3,
        round: 2,
        rule: Some("zxid".to_owned()),
        epoch: Some(2),
        supporters: vec![3, 4],
        counted: vec![3, 4],
        began_ms: Some(12_402),
        quorum_ms: Some(40),
        won_ms: 243,
        established_ms: Some(310),
        lost_ms: Some(2240),
        votes: vec![
            vote(1, 3, 3, "0x100000009", None),
            vote(3, 4, 4, "0x100000008", None),
            vote(20, 4, 3, "0x100000009", Some("zxid")),
            vote(-5, 5, 5, "0x100000008", None),
        ],
        ..Account::default()
    }
}

fn page(elections: &[Account], name: &str) -> String {
    let mut run = results::valid();
    let told = serde_json::to_value(elections).expect("accounts are data");
    run.results.stats.insert("elections".to_owned(), told);
    without_scripts(&run.page(name))
}

#[test]
fn an_election_is_told_vote_by_vote() {
    let page = page(&[election()], "election");
    let all = [
        "<h2>Elections of the ensemble (1)</h2>",
        "<b>n3</b> won round 2 by the higher zxid and led epoch 2; nobody led for 2.24 s",
        "12.402 s",
        "a quorum's votes had reached it after 40.0 ms",
        "it found that it had won after 243 ms, counting the servers 3, 4",
        "the servers 3, 4 had acknowledged it as leader after 310 ms",
        "<td>4</td><td>2</td><td>3</td><td>0x100000009</td><td>1</td><td>the higher zxid</td><td>✓</td>",
        "<td>−5.00 ms</td><td>5</td><td>2</td><td>5 (itself)</td>",
        "not by the winner",
        "<details class=\"election\" open>",
    ];
    shows(&page, &all);
    assert!(!page.contains("no rule allows it"));
}

#[test]
fn a_change_of_vote_without_a_rule_and_a_winner_that_never_led_stand_out() {
    let mut odd = election();
    odd.epoch = None;
    odd.votes[2].rule = None;
    let page = page(&[odd], "odd-election");
    assert!(page.contains("no rule allows it"));
    assert!(page.contains("and never came to lead"));
}

#[test]
fn many_elections_stay_readable() {
    let page = page(&vec![election(); 150], "many-elections");
    assert_eq!(page.matches("<details class=\"election\">").count(), 100);
    assert!(page.contains("50 more elections, in results.json"));
    assert!(!page.contains("<details class=\"election\" open>"));
}

#[test]
fn results_without_elections_have_no_such_section() {
    let mut told = results::valid();
    let scene = serde_json::json!([{ "scene": "by zxid", "winner": "n3", "rule": "zxid" }]);
    told.results.stats.insert("elections".to_owned(), scene);
    assert!(!told.page("scene-elections").contains("Elections of the ensemble"));
    let page = results::valid().page("no-elections");
    assert!(!page.contains("Elections of the ensemble"));
}
