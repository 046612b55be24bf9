//! Packing of columns: what repeats is written once, and numbers are given as differences.

use std::collections::HashMap;

/// The most different texts kept; beyond that they are left out, because each would stand in the page.
const TEXTS: usize = 2_000;

/// Differences between neighbours.
pub fn deltas(values: impl Iterator<Item = u64>) -> Vec<i64> {
    let mut before = 0;
    values
        .map(|v| {
            let v = i64::try_from(v).unwrap_or(i64::MAX);
            let delta = v - before;
            before = v;
            delta
        })
        .collect()
}

/// Numbers for strings, in the order of their first use.
#[derive(Default)]
pub struct Index {
    numbers: HashMap<String, usize>,
    pub values: Vec<String>,
}

impl Index {
    /// The number of a string.
    pub fn number(&mut self, value: String) -> usize {
        if let Some(n) = self.numbers.get(&value) {
            return *n;
        }
        self.numbers.insert(value.clone(), self.values.len());
        self.values.push(value);
        self.values.len() - 1
    }
}

/// Texts that differ mostly in their numbers, such as the names of grants: `g17 · 31` is the form `g# · #` and two
/// numbers, each given as its difference to the last one in the same place of the same form.
#[derive(Default)]
pub struct Texts {
    /// The forms, by number.
    pub forms: Index,
    last: HashMap<(usize, usize), i64>,
    /// The numbers of all texts, in order.
    pub numbers: Vec<i64>,
}

impl Texts {
    /// The number of the text's form.
    pub fn form(&mut self, text: &str) -> usize {
        let (form, numbers) = split(text);
        let full = self.forms.values.len() >= TEXTS && !self.forms.numbers.contains_key(&form);
        if full {
            return self.forms.number(String::new());
        }
        let form = self.forms.number(form);
        for (place, n) in numbers.into_iter().enumerate() {
            let last = self.last.entry((form, place)).or_default();
            self.numbers.push(n - *last);
            *last = n;
        }
        form
    }
}

/// A text's form and numbers. Digits that a number would not give back, such as leading zeros, stay in the form; a `#`
/// of the text itself is written as its full-width twin.
fn split(text: &str) -> (String, Vec<i64>) {
    let mut form = String::new();
    let mut numbers = Vec::new();
    let text = text.replace('#', "＃");
    let mut rest = text.as_str();
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[start..]
            .find(|c: char| !c.is_ascii_digit())
            .map_or(rest.len(), |n| start + n);
        let digits = &rest[start..end];
        form.push_str(&rest[..start]);
        match digits.parse::<i64>() {
            Ok(n) if digits.len() < 16 && n.to_string() == digits => {
                numbers.push(n);
                form.push('#');
            }
            _ => form.push_str(digits),
        }
        rest = &rest[end..];
    }
    (form + rest, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_its_form_and_numbers() {
        assert_eq!(split("g17 · 31"), ("g# · #".into(), vec![17, 31]));
        assert_eq!(split("x-007#1"), ("x-007＃#".into(), vec![1]));
        assert_eq!(split("x-007"), ("x-007".into(), vec![]));
        assert_eq!(split("99999999999999999999"), ("99999999999999999999".into(), vec![]));
    }

    #[test]
    fn too_many_forms_are_left_out() {
        let mut texts = Texts::default();
        for i in 0..3 * TEXTS {
            let letters: String = i.to_string().bytes().map(|b| char::from(b + 17)).collect();
            texts.form(&letters);
        }
        assert_eq!(texts.forms.values.len(), TEXTS + 1);
    }
}
