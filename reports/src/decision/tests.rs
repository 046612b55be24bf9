//! The page, the picture and the table of a comparison whose numbers are given.

use super::*;

fn cost(
    acceptors: u8,
    (delays, claimed_delays): (u32, Option<u32>),
    messages: (u32, u32),
    timeouts: usize,
) -> DecisionCost {
    DecisionCost {
        acceptors,
        delays,
        claimed_delays,
        messages: messages.0,
        claimed_messages: Some(messages.1),
        parts: vec![
            share("request", "acceptor", messages.1 / 2),
            share("2b", "learner", messages.1 - messages.1 / 2),
            share("2b", "coordinator", messages.0 - messages.1),
        ],
        timeouts: vec!["proposer".to_owned(); timeouts],
        waited_ms: 150.0 * timeouts as f64 + f64::from(acceptors) * timeouts as f64,
        ..DecisionCost::default()
    }
}

fn share(kind: &str, to: &str, count: u32) -> MessageShare {
    MessageShare {
        kind: kind.to_owned(),
        to: to.to_owned(),
        count,
    }
}

fn row(claim: [&str; 4], costs: [DecisionCost; 2]) -> CostRow {
    let [delays, messages, source, explanation] = claim.map(str::to_owned);
    CostRow {
        claim: CostClaim {
            delays,
            messages,
            source,
            explanation,
        },
        costs: costs.into(),
    }
}

/// Paxos and Fast Paxos with 3 and 5 acceptors, undisturbed and without a leader.
fn comparison() -> DecisionComparison {
    let protocol = |name: &str, label: &str| ComparedProtocol {
        name: name.into(),
        label: label.into(),
        promise: "a <promise>".into(),
    };
    let situation = |name: &str, rows| SituationCosts {
        name: name.into(),
        title: format!("The {name} one"),
        words: "what is <played>".into(),
        rows,
    };
    let paxos = ["3", "1 + n", "a paper", ""];
    let fast = ["2", "n from 4 | 5 on", "another", "Votes go elsewhere, section 3.2."];
    DecisionComparison {
        acceptors: vec![3, 5],
        learners: 2,
        leaders: 2,
        proposers: 2,
        unit_us: 1_000,
        seed: 1,
        protocols: vec![protocol("paxos", "Paxos"), protocol("fast-paxos", "coordinated")],
        situations: vec![
            situation(
                "quiet",
                vec![
                    row(
                        paxos,
                        [cost(3, (3, Some(3)), (10, 10), 0), cost(5, (3, Some(3)), (16, 16), 0)],
                    ),
                    row(
                        fast,
                        [cost(3, (2, Some(2)), (12, 9), 0), cost(5, (2, Some(2)), (20, 15), 0)],
                    ),
                ],
            ),
            situation(
                "leaderless",
                vec![
                    row(
                        paxos,
                        [cost(3, (5, Some(5)), (17, 17), 1), cost(5, (5, Some(5)), (27, 27), 1)],
                    ),
                    row(
                        ["", "", "", ""],
                        [cost(3, (4, None), (21, 21), 2), cost(5, (2, None), (17, 17), 0)],
                    ),
                ],
            ),
        ],
    }
}

#[test]
fn sentences_have_the_delays_the_messages_and_what_holds() {
    assert_eq!(
        summary(&comparison()),
        [
            "The quiet one. Message delays: 3 in paxos; 2 in fast-paxos.",
            "The leaderless one. Message delays: 5 after a timeout in paxos; 4 after 2 timeouts with 3 acceptors, 2 with 5 acceptors in \
             fast-paxos.",
            "The quiet one. Messages with 3 and 5 acceptors and 2 learners: paxos 10, 16; fast-paxos 12, 20.",
            "The tutorial claims of a fast round without a collision that it takes one message delay less than Paxos and fewer messages. \
             It does take one delay less. Counting the proposal and the votes to learners alone, it does take fewer messages; with the \
             votes that acceptors send so that a collision can be recovered from, it does not.",
            "Claims that hold: of message delays 6 of 6, of numbers of messages 6 of 8; each row in which one does not has the section \
             that explains it.",
        ]
    );
    let mut other = comparison();
    other.situations[0].rows[1].costs[0].delays = 3;
    let lines = summary(&other);
    assert!(
        lines
            .iter()
            .any(|line| line.contains("It does in part take one delay less")),
        "{lines:?}"
    );
    other.protocols.remove(0);
    other
        .situations
        .iter_mut()
        .for_each(|situation| drop(situation.rows.remove(0)));
    assert!(
        !summary(&other).iter().any(|line| line.contains("tutorial")),
        "there is nothing to compare with"
    );
}

#[test]
fn the_table_has_a_line_for_each_situation_and_protocol_and_what_explains_it() {
    let table = words::table(&comparison());
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines[0],
        "| situation | protocol | message delays | claimed | messages with 3 and 5 acceptors | claimed |"
    );
    assert_eq!(lines[2], "| The quiet one | paxos | 3 | 3 | 10, 16 | 1 + n |");
    assert_eq!(
        lines[3],
        "| The quiet one | fast-paxos | 2 | 2 | 12, 20 | n from 4 \\| 5 on |"
    );
    let fast = "| The leaderless one | fast-paxos | 4 after 2 timeouts with 3 acceptors, 2 with 5 acceptors | – | 21, 17 | – |";
    assert_eq!(lines[5], fast);
    assert_eq!(lines.last(), Some(&"- fast-paxos: Votes go elsewhere, section 3.2."));
    assert!(table.contains("l = 2 learners, 2 leaders, 2 proposers"), "{table}");
}

#[test]
fn the_page_has_every_number_and_figure_and_fetches_nothing() {
    let page = page::page(&comparison());
    assert_eq!(page.matches("<svg").count(), 4, "delays and messages of two situations");
    for (number, label) in ["The quiet one: message delays", "The quiet one: messages"]
        .iter()
        .enumerate()
    {
        assert!(
            page.contains(&format!("id=\"figure-{number}\"")) && page.contains(label),
            "{label}"
        );
    }
    // With 5 acceptors more messages were sent than are claimed.
    assert!(
        page.contains("title=\"7 request to acceptor, 8 2b to learner, 5 2b to coordinator\"><b>20</b></td>"),
        "{page}"
    );
    assert!(
        page.contains(">16</td>") && page.contains("1 × proposer, 153–155 ms"),
        "{page}"
    );
    assert!(
        page.contains("Measured differs.</b> Votes go elsewhere, section 3.2.</td>"),
        "{page}"
    );
    assert!(page.contains("a &lt;promise&gt;") && page.contains("what is &lt;played&gt;"));
    assert!(!page.contains("<script") && !page.contains("src="), "{page}");
}

#[test]
fn a_figure_has_a_bar_a_number_and_the_claim_of_each_decision() {
    use crate::compare::figure::Mark;
    let [delays, messages] = &page::all_figures(&comparison())[1];
    assert_eq!((delays.rows.len(), messages.rows.len()), (4, 4));
    let marks = [Mark::Bar(5.0), Mark::Starred(5.0), Mark::Tick(5.0)];
    assert_eq!(delays.rows[0].marks, marks, "after a timeout");
    assert_eq!(
        delays.rows[3].marks,
        [Mark::Bar(2.0), Mark::Number(2.0)],
        "nothing is claimed"
    );
    assert_eq!((delays.rows[3].subject, delays.rows[3].faults), (1, 1));
    assert_eq!(messages.rows[1].marks[2], Mark::Tick(27.0));
}

#[test]
fn all_files_are_written_and_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let written = write_all(&comparison(), folder.path()).unwrap();
    let names: Vec<_> = written
        .iter()
        .map(|path| path.file_name().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["compare.html", "compare.md", "compare.png"]);
    let first: Vec<_> = written.iter().map(|path| std::fs::read(path).unwrap()).collect();
    assert!(first[2].starts_with(b"\x89PNG"));
    write_all(&comparison(), folder.path()).unwrap();
    let second: Vec<_> = written.iter().map(|path| std::fs::read(path).unwrap()).collect();
    assert!(first == second, "a comparison has one report");
}
