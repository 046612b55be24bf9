//! Links from the names of tickets to their trackers.

use maud::{Markup, html};

/// Projects whose tickets Apache's tracker has; such a name is `ZOOKEEPER-1262`.
const APACHE: [&str; 5] = ["ZOOKEEPER", "CURATOR", "KAFKA", "HBASE", "HELIX"];

/// Projects whose tickets GitHub has, with their repositories; such a name is `kazoo 170`.
const GITHUB: [(&str, &str); 7] = [
    ("kazoo", "python-zk/kazoo"),
    ("twitter/commons", "twitter/commons"),
    ("Curator", "apache/curator"),
    ("Netflix/curator", "Netflix/curator"),
    ("pinterest/memq", "pinterest/memq"),
    ("apache/fluss", "apache/fluss"),
    ("ClickHouse", "ClickHouse/ClickHouse"),
];

/// The most digits of a ticket's number.
const DIGITS: usize = 6;

/// A text whose tickets are links. An address is made of a tracker's name in the lists above and of digits alone, so
/// that no text from a record leads anywhere else.
pub fn linked(text: &str) -> Markup {
    let mut rest = text;
    let mut parts: Vec<(&str, Option<(String, &str)>)> = Vec::new();
    while let Some((at, length, address)) = first(rest) {
        parts.push((&rest[..at], Some((address, &rest[at..at + length]))));
        rest = &rest[at + length..];
    }
    html! {
        @for (before, ticket) in parts {
            (before)
            @if let Some((address, name)) = ticket { a href=(address) rel="noopener noreferrer" { (name) } }
        }
        (rest)
    }
}

/// The first ticket in a text: where it begins, how long its name is, and its address.
fn first(text: &str) -> Option<(usize, usize, String)> {
    let browse = "https://issues.apache.org/jira/browse";
    let apache = APACHE
        .iter()
        .map(|project| (format!("{project}-"), format!("{browse}/{project}-")));
    let issues = |repository: &str| format!("https://github.com/{repository}/issues/");
    let github = GITHUB
        .iter()
        .map(|(name, repository)| (format!("{name} "), issues(repository)));
    let found = apache.chain(github).filter_map(|(prefix, tracker)| {
        let (at, number) = text
            .match_indices(&prefix)
            .filter(|(at, _)| !text[..*at].ends_with(|before: char| before.is_alphanumeric() || before == '/'))
            .find_map(|(at, _)| Some((at, number(&text[at + prefix.len()..])?)))?;
        Some((at, prefix.len() + number.len(), format!("{tracker}{number}")))
    });
    found.min_by_key(|(at, ..)| *at)
}

/// The number that a text begins with, if nothing else is written to it, as to that of a version: `2.11.0`.
fn number(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let mut after = text[end..].chars();
    let goes_on = match after.next() {
        Some('.') => after.next().is_some_and(char::is_alphanumeric),
        next => next.is_some_and(|c| c.is_alphanumeric() || c == '-'),
    };
    ((1..=DIGITS).contains(&end) && !goes_on).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::linked;

    #[test]
    fn tickets_lead_to_their_trackers() {
        let shown = linked("CURATOR-191, kazoo 645; <b> twitter/commons 5.").into_string();
        let expected = "<a href=\"https://issues.apache.org/jira/browse/CURATOR-191\" rel=\"noopener noreferrer\">CURATOR-191</a>, \
             <a href=\"https://github.com/python-zk/kazoo/issues/645\" rel=\"noopener noreferrer\">kazoo 645</a>; &lt;b&gt; \
             <a href=\"https://github.com/twitter/commons/issues/5\" rel=\"noopener noreferrer\">twitter/commons 5</a>.";
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_is_no_ticket_stays_text() {
        for text in [
            "ZOOKEEPER-",
            "ZOOKEEPER-12x",
            "MYZOOKEEPER-12",
            "evil/kazoo 7",
            "kazoo seven",
            "KAFKA-1234567",
            "KAFKA-1-2",
            "kazoo 2.11.0",
            "Curator 5.x",
        ] {
            assert!(!linked(text).into_string().contains("<a"), "{text}");
        }
    }
}
