//! Places for labels: none lies over another, or under a mark.

use super::text_width;

/// What of a line is taken, as spans from left to right ends.
#[derive(Debug, Default)]
pub struct Places {
    taken: Vec<(f64, f64)>,
}

impl Places {
    /// A line on which these spans are taken.
    pub fn beside(taken: Vec<(f64, f64)>) -> Self {
        Self { taken }
    }

    /// Where in `from..until` the longest of the labels that fit begins, which is taken then; `None` if none fits.
    pub fn find<'l>(&mut self, labels: &'l [String], (from, until): (f64, f64)) -> Option<(f64, &'l str)> {
        let found = labels
            .iter()
            .find_map(|label| Some((self.free(text_width(label), from, until)?, label.as_str())));
        if let Some((x, label)) = found {
            self.taken.push((x, x + text_width(label)));
        }
        found
    }

    /// The leftmost free place of that width: the beginning, or right after something that is taken.
    fn free(&self, width: f64, from: f64, until: f64) -> Option<f64> {
        let after = self.taken.iter().map(|&(_, end)| end + 2.0).filter(|x| *x > from);
        let mut starts: Vec<f64> = std::iter::once(from).chain(after).collect();
        starts.sort_by(f64::total_cmp);
        let free = |x: &f64| !self.taken.iter().any(|&(start, end)| *x < end && start < x + width);
        starts.into_iter().take_while(|x| x + width < until).find(free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_gives_way_to_what_is_taken() {
        let mut places = Places::beside(vec![(0.0, 20.0), (30.0, 40.0)]);
        let labels = ["long words".to_owned(), "long".to_owned()];
        let (x, label) = places.find(&labels, (0.0, 200.0)).expect("there is room");
        assert_eq!((x, label), (42.0, "long words"));
        let (x, label) = places
            .find(&labels, (0.0, 145.0))
            .expect("there is room for the short one");
        assert_eq!(label, "long");
        assert!(x >= 42.0 + text_width("long words"));
        assert_eq!(places.find(&labels, (0.0, 60.0)), None, "rather none than over another");
    }
}
