//! What each anomaly is, and what a recipe must do not to have it. `docs/anomalies.md` has the same at length.

use super::protocol_mends::PROTOCOL_MENDS;
use super::recipe_mends::RECIPE_MENDS;
use zooquake_history::operation::consensus;

/// An anomaly in words.
#[derive(Debug, PartialEq)]
pub struct Mend {
    /// The names of the anomalies.
    kinds: &'static [&'static str],
    /// What happened, as a sentence.
    pub meaning: &'static str,
    /// What the recipe must do, as a sentence.
    pub sentence: &'static str,
}

impl Mend {
    /// The same of a run of a family: some names mean something else in one of them.
    pub fn by_family(family: &str, kind: &str) -> Option<(&'static str, &'static Self)> {
        let own = PROTOCOL_MENDS.iter().filter(|_| family == consensus::FAMILY.name);
        let found = own.flat_map(|mend| mend.kinds.iter().map(move |known| (*known, mend)));
        let mut found = found.filter(|(known, _)| *known == kind);
        found.next().or_else(|| Self::by_kind(kind))
    }

    /// The name of an anomaly, as it is written here, and its words; `None` for a name that no family has.
    pub fn by_kind(kind: &str) -> Option<(&'static str, &'static Self)> {
        let mut all = RECIPE_MENDS
            .iter()
            .flat_map(|mend| mend.kinds.iter().map(move |known| (*known, mend)));
        all.find(|(known, _)| *known == kind)
    }
}

pub(super) const fn mend(kinds: &'static [&'static str], meaning: &'static str, sentence: &'static str) -> Mend {
    Mend {
        kinds,
        meaning,
        sentence,
    }
}

#[cfg(test)]
mod tests {
    use super::{Mend, PROTOCOL_MENDS, RECIPE_MENDS};
    use zooquake_checkers::{ensemble, families};

    /// Checkers that compare evidence or count, and raise no anomaly of their name.
    const NO_ANOMALIES: [&str; 4] = ["evidence", "second-opinion", "scenes", "observers"];

    #[test]
    fn every_anomaly_of_every_family_has_a_sentence_that_mends_it() {
        let own = families::FAMILIES.iter().flat_map(|family| family.checkers);
        let all = own.chain(ensemble::CHECKERS).copied();
        let mut missing: Vec<&str> = all.filter(|kind| !NO_ANOMALIES.contains(kind)).collect();
        missing.retain(|kind| Mend::by_kind(kind).is_none());
        assert_eq!(missing, Vec::<&str>::new());
    }

    #[test]
    fn every_anomaly_of_the_documents_has_one_and_no_other_has() {
        let text = include_str!("../../../../docs/anomalies.md");
        let headings = text.lines().filter_map(|line| line.strip_prefix("### "));
        let mut documented: Vec<&str> = headings.flat_map(|heading| heading.split(", ")).collect();
        // The last section names those of the ensemble and of clients in a sentence.
        documented.extend(ensemble::CHECKERS);
        documented.push("client-crash");
        let mut known: Vec<&str> = RECIPE_MENDS.iter().flat_map(|mend| mend.kinds).copied().collect();
        documented.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, documented);
    }

    #[test]
    fn words_are_sentences() {
        for mend in RECIPE_MENDS.iter().chain(PROTOCOL_MENDS) {
            for words in [mend.meaning, mend.sentence] {
                assert!(words.ends_with('.') && words.starts_with(char::is_uppercase), "{words}");
            }
        }
    }
}
