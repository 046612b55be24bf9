//! Numbers of messages as polynomials of the numbers of acceptors and learners.

use std::fmt;

/// How many messages there are with n acceptors and l learners; the fields are the factors of its terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageFormula {
    /// Messages whatever the sizes.
    pub constant: i32,
    /// The factor of n.
    pub n: i32,
    /// The factor of n².
    pub n_squared: i32,
    /// The factor of n·l.
    pub n_l: i32,
    /// The factor of l.
    pub l: i32,
}

impl MessageFormula {
    /// No message.
    pub const NOTHING: Self = Self {
        constant: 0,
        n: 0,
        n_squared: 0,
        n_l: 0,
        l: 0,
    };

    /// The number for these sizes.
    ///
    /// # Panics
    /// If it is negative.
    pub fn count(self, acceptors: u8, learners: u8) -> u32 {
        let (n, l) = (i32::from(acceptors), i32::from(learners));
        let sum = self.constant + self.n * n + self.n_squared * n * n + self.n_l * n * l + self.l * l;
        u32::try_from(sum).expect("no number of messages is negative")
    }
}

/// `1 + n + n·l`.
impl fmt::Display for MessageFormula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = [
            (self.constant, ""),
            (self.n, "n"),
            (self.n_squared, "n²"),
            (self.n_l, "n·l"),
            (self.l, "l"),
        ];
        for (place, (factor, unit)) in terms.into_iter().filter(|(factor, _)| *factor != 0).enumerate() {
            match (place, factor < 0) {
                (0, false) => {}
                (0, true) => f.write_str("−")?,
                (_, false) => f.write_str(" + ")?,
                (_, true) => f.write_str(" − ")?,
            }
            match (factor.unsigned_abs(), unit) {
                (size, "") => write!(f, "{size}")?,
                (1, unit) => f.write_str(unit)?,
                (size, unit) => write!(f, "{size}{unit}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::MessageFormula;

    #[test]
    fn a_formula_is_written_as_it_is_counted() {
        let paxos = MessageFormula {
            constant: 1,
            n: 1,
            n_l: 1,
            ..MessageFormula::NOTHING
        };
        assert_eq!((paxos.to_string(), paxos.count(5, 2)), ("1 + n + n·l".to_owned(), 16));
        let other = MessageFormula {
            n: -1,
            n_squared: 2,
            n_l: 3,
            l: -1,
            ..MessageFormula::NOTHING
        };
        assert_eq!(
            (other.to_string(), other.count(3, 2)),
            ("−n + 2n² + 3n·l − l".to_owned(), 31)
        );
    }
}
