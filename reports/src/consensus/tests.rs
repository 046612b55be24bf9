//! The diagrams of counterexamples of each protocol's planted bug, and of runs in which nothing is wrong.

#[path = "../../tests/suite/common/networks.rs"]
mod networks;

use super::{ConsensusPicture, picture};
use crate::Extras;
use crate::messages::tests::crossed;
use crate::messages::{ArrowEnd, DiagramTone, LaneMark, MarkSign, layout};
use crate::model::RunModel;

/// What is drawn of the run of a plan, which is to have this anomaly first.
#[track_caller]
fn drawn(name: &str, anomaly: Option<&str>) -> ConsensusPicture {
    let record = networks::record(name);
    let (results, extras) = (zooquake_checkers::check(&record), Extras::default());
    let model = RunModel::new(&record, &results, &extras);
    let root = model.roots.first().map(|root| root.anomaly);
    assert_eq!(root.map(|anomaly| anomaly.kind.as_str()), anomaly, "{name}");
    picture(&model, root).expect("a diagram")
}

impl ConsensusPicture {
    fn said(&self) -> String {
        self.lines().collect::<Vec<_>>().join(" ")
    }

    /// The names of the lanes that have the sign of a tone.
    fn lanes_of(&self, tone: DiagramTone) -> Vec<&str> {
        let lanes = self.diagram.lanes.iter().filter(|lane| lane.tones.contains(&tone));
        lanes.map(|lane| lane.name.as_str()).collect()
    }

    fn arrows_of(&self, tone: DiagramTone) -> Vec<&str> {
        let arrows = self.diagram.arrows.iter().filter(|arrow| arrow.tone == tone);
        arrows.map(|arrow| arrow.label.as_str()).collect()
    }

    fn bands(&self) -> Vec<&str> {
        self.diagram.bands.iter().map(|band| band.label.as_str()).collect()
    }

    /// The lane and the words of each decision, in the order of time.
    fn decisions(&self) -> Vec<(&str, &str)> {
        let decisions = self.diagram.marks.iter().filter(|mark| mark.sign == MarkSign::Decision);
        decisions.map(|mark| (self.lane(mark), mark.label.as_str())).collect()
    }

    fn lane(&self, mark: &LaneMark) -> &str {
        mark.lane.map_or("", |lane| self.diagram.lanes[lane].name.as_str())
    }

    /// The words of the mark with which the proof ends.
    fn last_step(&self) -> &str {
        let mut marks = self.diagram.marks.iter();
        let last = marks.find(|mark| mark.step.is_some_and(|(_, last)| last));
        last.map_or("", |mark| mark.label.as_str())
    }

    /// How many messages were lost.
    fn lost(&self) -> usize {
        let arrows = self.diagram.arrows.iter();
        arrows.filter(|arrow| matches!(arrow.end, ArrowEnd::Lost(_))).count()
    }

    /// The names of the lanes on which a fault is hatched.
    fn hatched(&self, fault: &str) -> Vec<&str> {
        let spans = self.diagram.spans.iter().filter(|span| span.fault.name == fault);
        spans.map(|span| self.diagram.lanes[span.lane].name.as_str()).collect()
    }
}

#[test]
fn a_forgotten_promise_is_shown_with_both_quorums() {
    let picture = drawn("C1", Some("disagreement"));
    assert_eq!(picture.lanes_of(DiagramTone::First), ["acceptor1", "acceptor3"]);
    assert_eq!(picture.lanes_of(DiagramTone::Second), ["acceptor1", "acceptor3"]);
    assert_eq!(picture.arrows_of(DiagramTone::First), ["2b 1", "2b 1"]);
    assert_eq!(picture.arrows_of(DiagramTone::Second), ["2b 2", "2b 2"]);
    assert_eq!(picture.bands(), ["ballot 1", "ballot 2"]);
    let mut ends = picture.diagram.arrows.iter().map(|arrow| arrow.end);
    assert!(
        ends.all(|end| end != ArrowEnd::OnItsWay),
        "what a script never delivers is left out"
    );
    assert!(picture.caption.contains("never delivers is left out"));
    assert_eq!(
        picture.decisions(),
        [("learner1", "learns 1"), ("learner1", "learns 2")]
    );
    assert_eq!(picture.last_step(), "learns 2");
    let promise =
        "acceptor3 had promised, by a 1b of ballot 2, to vote in no lower ballot, and then voted in ballot 1.";
    assert!(picture.said().contains(promise), "{}", picture.said());
}

#[test]
fn before_it_is_shrunk_lost_messages_have_ends_and_dead_nodes_are_hatched() {
    let picture = drawn("C1-unshrunk", Some("disagreement"));
    assert!(
        picture.lost() > 0 && picture.said().contains("×: lost"),
        "{}",
        picture.said()
    );
    assert_eq!(picture.hatched("kill"), ["acceptor1", "learner1"]);
    let many = picture.diagram.brackets.iter().map(|bracket| bracket.label.as_str());
    assert_eq!(many.collect::<Vec<_>>(), ["partition"]);
}

#[test]
fn a_fast_quorum_that_is_too_small_is_counted() {
    let picture = drawn("C2", Some("disagreement"));
    let said = picture.said();
    let counted = "Round 1 is a fast one (2a any): a fast quorum is 3 of 3 acceptors, and 2 had voted.";
    assert!(
        said.contains(counted) && said.contains("In both sets is acceptor1."),
        "{said}"
    );
    assert_eq!(picture.bands(), ["round 1", "round 3"]);
    assert_eq!(picture.arrows_of(DiagramTone::First).len(), 2);
    assert_eq!(picture.arrows_of(DiagramTone::Second).len(), 2);
}

#[test]
fn a_lesser_vote_stands_beside_the_greater_one() {
    let picture = drawn("C3", Some("lesser-vote-won"));
    let said = picture.said();
    let elected = "server1 was elected with epoch 1, zxid 8; server3 had voted for it with epoch 2, zxid 7.";
    assert!(said.contains(elected), "{said}");
    assert_eq!(picture.decisions(), [("server1", "elected")]);
    assert!(
        picture
            .arrows_of(DiagramTone::Second)
            .iter()
            .all(|vote| *vote == "vote (3, 7) epoch 2")
    );
    assert!(picture.arrows_of(DiagramTone::First).contains(&"vote (1, 8) epoch 1"));
}

#[test]
fn two_leaders_at_one_moment_are_shown_with_what_parted_them() {
    for name in ["C4", "C4-unshrunk"] {
        let picture = drawn(name, Some("two-leaders"));
        let decisions = picture.decisions();
        assert_eq!(decisions.len(), 2, "{name}: {decisions:?}");
        assert!(
            decisions.iter().all(|(_, label)| *label == "leads term 1"),
            "{decisions:?}"
        );
        assert!(
            picture.cause.as_deref() == Some("node1 and node2 began to lead without the vote of another node."),
            "{}",
            picture.said()
        );
    }
    let picture = drawn("C4-unshrunk", Some("two-leaders"));
    assert!(picture.lost() > 4, "{}", picture.lost());
    assert_eq!(picture.hatched("partition"), ["node1", "node3", "node2"]);
}

#[test]
fn a_lost_message_is_shown_with_the_logs_and_the_in_sync_set() {
    for name in ["C5", "isr-unclean", "isr-unclean-unshrunk"] {
        let picture = drawn(name, Some("lost-message"));
        let (said, decisions) = (picture.said(), picture.decisions());
        let with_log = |label: &str| label.starts_with("leads epoch ") && label.contains(", log ");
        assert!(
            decisions.iter().any(|(_, label)| with_log(label)),
            "{name}: {decisions:?}"
        );
        assert!(said.contains(" on without it"), "{name}: {said}");
        assert!(said.contains(" replaced: leader 1, ISR {1}, v"), "{name}: {said}");
        assert!(said.contains("HW is the high watermark"), "{name}: {said}");
        assert!(!picture.arrows_of(DiagramTone::First).is_empty(), "{name}");
        let change = picture.arrows_of(DiagramTone::Second);
        assert!(
            change.iter().all(|label| label.starts_with("change")),
            "{name}: {change:?}"
        );
    }
    assert_eq!(drawn("isr-unclean", Some("lost-message")).hatched("kill"), ["replica2"]);
}

#[test]
fn the_diagram_of_a_lost_message_goes_on_until_a_replica_cuts_it_off() {
    let picture = drawn("isr-unclean-unshrunk", Some("lost-message"));
    let marks = &picture.diagram.marks;
    let lost = marks
        .iter()
        .find(|mark| mark.step.is_some_and(|(_, last)| last))
        .expect("the proof");
    let cut = marks.iter().find(|mark| mark.label.contains("cuts its log off"));
    let cut = cut.expect("the old leader follows");
    assert!(cut.time > lost.time && picture.lane(cut) == "replica1");
    assert!(
        picture.said().contains("replica1 cut its log off to follow"),
        "{}",
        picture.said()
    );
}

#[test]
fn a_log_that_was_not_flushed_is_lost_when_its_process_starts_again() {
    let picture = drawn("isr-unflushed", Some("lost-message"));
    assert_eq!(picture.hatched("kill"), ["replica1"]);
    let marks = picture
        .diagram
        .marks
        .iter()
        .map(|mark| (picture.lane(mark), mark.label.as_str()));
    let marks: Vec<_> = marks.collect();
    assert!(marks.contains(&("replica1", "starts again, log empty")), "{marks:?}");
    let said = picture.said();
    assert!(
        said.contains("it was not yet on its disk when replica1 died and started again"),
        "{said}"
    );
    assert!(!said.contains("cut its log off"), "{said}");
}

#[test]
fn logs_that_differ_are_shown_with_what_brought_each_message() {
    let picture = drawn("C7", Some("diverging-replicas"));
    assert_eq!(picture.lanes_of(DiagramTone::First), ["replica1"]);
    assert_eq!(picture.lanes_of(DiagramTone::Second), ["replica2"]);
    assert_eq!(picture.arrows_of(DiagramTone::First), ["produce 3"]);
    assert_eq!(picture.arrows_of(DiagramTone::Second), ["fetched 2 at 0, HW 0"]);
    assert_eq!(picture.last_step(), "stores 2 at 1");
    let said = "At offset 1 replica1 has message 3 of epoch 1, and replica2 has message 2 of epoch 1.";
    assert!(picture.said().contains(said), "{}", picture.said());
    assert!(!picture.said().contains("both have a record"), "{}", picture.said());
}

#[test]
fn a_tail_that_was_never_cut_off_is_shown_with_the_record_after_it() {
    let picture = drawn("C6", Some("diverging-replicas"));
    assert_eq!(picture.lanes_of(DiagramTone::First), ["replica1"]);
    assert_eq!(picture.lanes_of(DiagramTone::Second), ["replica2"]);
    let said = "At offset 0 replica1 has message 1 of epoch 1, and replica2 has message 3 of epoch 2. At offset 1 both have a record of epoch 2";
    assert!(picture.said().contains(said), "{}", picture.said());
    assert_eq!(picture.last_step(), "in sync: replica1 and replica2");
    let leads = picture.decisions();
    assert!(leads.contains(&("replica2", "leads epoch 2, log empty")), "{leads:?}");
}

#[test]
fn the_tutorials_five_servers_elect_whom_the_text_names() {
    let winners = [
        ("textbook-election", "server3"),
        ("textbook-observer", "server3"),
        ("textbook-higher-zxid", "server4"),
        ("textbook-one-by-one", "server3"),
    ];
    for (name, winner) in winners {
        let picture = drawn(name, None);
        let leads = picture
            .decisions()
            .into_iter()
            .find(|(_, label)| label.starts_with("leads epoch "));
        assert_eq!(leads.map(|(lane, _)| lane), Some(winner), "{name}");
        assert!(picture.bands().contains(&"election 1"), "{name}: {:?}", picture.bands());
    }
}

#[test]
fn every_plan_has_a_diagram_with_a_decision_and_words_for_its_messages() {
    let mut struck: Vec<(String, String)> = Vec::new();
    for name in networks::names() {
        let record = networks::record(&name);
        let (results, extras) = (zooquake_checkers::check(&record), Extras::default());
        let model = RunModel::new(&record, &results, &extras);
        let root = model.roots.first().map(|root| root.anomaly);
        let picture = picture(&model, root).expect("a diagram");
        let log = record.plan.workload.variant.contains("isr") || ["C5", "C6", "C7"].contains(&name.as_str());
        assert!(log || !picture.decisions().is_empty(), "{name}");
        assert!(
            picture.lines().count() > 1 && picture.diagram.arrows.len() <= 80,
            "{name}"
        );
        assert!(!picture.diagram.lanes.is_empty(), "{name}");
        let texts = crossed(&layout(&picture.diagram).shapes);
        struck.extend(texts.into_iter().map(|text| (name.clone(), text)));
    }
    assert!(struck.is_empty(), "{struck:?}: a line goes through a text");
}
