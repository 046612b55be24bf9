//! Sessions are rows of the pictures, where the record has some.

use crate::common::{Run, between, data, families, shows, without_scripts};
use crate::pictures::colours;

#[test]
fn a_session_is_opened_moves_and_ends() {
    let page = families::sessions().page("sessions");
    let picture = between(&page, "<svg id=\"overview\"", "</svg>");
    assert!(picture.contains(">c1 session</text>") && picture.contains(">c2 session</text>"));
    assert!(!picture.contains(">c3 session</text>"), "c3 has none");
    let count = |class: &str| picture.matches(&format!("class=\"{class}\"")).count();
    assert_eq!(
        [count("session"), count("away"), count("moved"), count("sessionend")],
        [3, 2, 1, 1]
    );
    let words = "c1: session 0xa, opened by 0.100 s, moved to n2 by 1.200 s, expired by the ensemble by 4.000 s";
    assert!(picture.contains(&format!("<title>{words}</title>")), "{picture}");
    let legend = [
        "has a session",
        "not connected",
        "moved to another server",
        "expired by the ensemble",
        "closed",
    ];
    shows(&without_scripts(&page), &legend);
    let rows = &data(&page)["sessions"];
    assert_eq!(rows[0][1][0][0], 100_000);
    assert_eq!(rows[0][1][0][2], 1, "expired");
    assert_eq!(rows[1][1][0][2], 0, "closed");
}

#[test]
fn the_picture_for_a_chat_has_the_rows_too() {
    let folder = families::sessions().write("sessions-png");
    let colours = colours(&folder.0.join("timeline.png"), 0);
    for colour in [[107, 118, 129], [226, 181, 160]] {
        assert!(colours.get(&colour) > Some(&30), "{colour:?}");
    }
}

#[test]
fn where_the_record_has_no_sessions_there_is_no_row() {
    let page = Run::default().page("no-sessions");
    assert!(!page.contains(" session</text>") && !page.contains("has a session"));
    assert_eq!(data(&page)["sessions"], serde_json::json!([]));
}
