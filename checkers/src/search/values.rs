//! Values of a foreign history: when two of them are equal, however they are written.

use crate::Value;
use crate::edn::{Edn, from_json, to_json};
use std::collections::HashMap;

/// A register's values as numbers, equal values as equal ones.
#[derive(Debug, Default)]
pub struct Values {
    numbers: HashMap<String, u32>,
    /// Those of the integers that were met, which nearly all values are.
    integers: HashMap<i64, u32>,
}

impl Values {
    /// The number of a value.
    ///
    /// # Errors
    /// It is an object whose text does not tell what it is.
    pub fn number(&mut self, value: &Value) -> Result<u32, String> {
        let integer = value.as_i64();
        if let Some(&number) = integer.and_then(|integer| self.integers.get(&integer)) {
            return Ok(number);
        }
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(canonical(value)?).or_insert(next);
        self.integers.extend(integer.map(|integer| (integer, number)));
        Ok(number)
    }
}

/// A value as a text that is the same for equal values: `#{1 2}` and `#{2 1}`, `[1 2]` and `(1 2)`, `1`, `1N` and `1.0`.
///
/// # Errors
/// It is an object, or holds one, whose text (`#object[…]`) does not tell what it is.
pub fn canonical(value: &Value) -> Result<String, String> {
    let value = from_json(value);
    text(&value).ok_or_else(|| format!("{value} has no readable form, so what it equals is not known"))
}

fn elements(value: &Value) -> Option<Vec<Edn>> {
    match from_json(value) {
        Edn::Vector(values) | Edn::List(values) => Some(values),
        _ => None,
    }
}

/// The values of a vector or a list; `None` of anything else.
pub fn vector(value: &Value) -> Option<Vec<Value>> {
    elements(value).map(|values| values.iter().map(to_json).collect())
}

/// The two values of a vector or a list of two; `None` of anything else.
pub fn pair(value: &Value) -> Option<(Value, Value)> {
    let values = elements(value)?;
    let [a, b] = values.as_slice() else { return None };
    Some((to_json(a), to_json(b)))
}

fn text(value: &Edn) -> Option<String> {
    let all = |values: &[Edn]| values.iter().map(text).collect::<Option<Vec<_>>>();
    let sorted = |mut texts: Vec<String>| {
        texts.sort_unstable();
        texts.dedup();
        texts.join(" ")
    };
    Some(match value {
        Edn::Int(number) => decimal(&number.to_string()).unwrap_or_default(),
        Edn::Float(number) => decimal(&format!("{number:?}")).unwrap_or_else(|| value.to_string()),
        Edn::Number(number) => decimal(number).unwrap_or_else(|| number.clone()),
        Edn::List(values) | Edn::Vector(values) => format!("[{}]", all(values)?.join(" ")),
        Edn::Set(values) => format!("#{{{}}}", sorted(all(values)?)),
        Edn::Map(entries) => {
            let entry = |(key, value): &(Edn, Edn)| Some(format!("{} {}", text(key)?, text(value)?));
            format!("{{{}}}", sorted(entries.iter().map(entry).collect::<Option<_>>()?))
        }
        Edn::Tagged(tag, _) if tag == "object" => return None,
        Edn::Tagged(tag, value) => format!("#{tag} {}", text(value)?),
        _ => value.to_string(),
    })
}

/// A decimal number as its digits without zeros around them and a power of ten; `None` for what is none.
fn decimal(number: &str) -> Option<String> {
    let number = number.trim_end_matches(['N', 'M']);
    let unsigned = number.trim_start_matches(['+', '-']);
    let (mantissa, power) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if whole.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    let short = digits.trim_end_matches('0');
    let zeros = digits.len() - short.len();
    let power = power.parse::<i64>().ok()? + i64::try_from(zeros).ok()? - i64::try_from(fraction.len()).ok()?;
    let sign = if number.starts_with('-') { "-" } else { "" };
    Some(match short {
        "" => "0".to_owned(),
        _ => format!("{sign}{short}e{power}"),
    })
}

#[cfg(test)]
mod tests {
    use super::canonical;
    use crate::edn::{parse, to_json};

    fn same(a: &str, b: &str) -> bool {
        let text = |edn: &str| canonical(&to_json(&parse(edn).expect("it is EDN"))).expect("it is readable");
        text(a) == text(b)
    }

    #[test]
    fn equal_values_are_equal_however_they_are_written() {
        for (a, b) in [
            ("#{1 2}", "#{2 1}"),
            ("[1 2]", "(1 2)"),
            ("1", "1N"),
            ("1", "1.0"),
            ("-100", "-1e2"),
            ("1.50M", "1.5"),
            ("18446744073709551616", "18446744073709551616N"),
            ("0", "-0.0"),
            ("{:a 1 :b #{(1) 2}}", "{:b #{2 [1N]} :a 1.0}"),
            ("[[:a (1)]]", "([:a [1]])"),
        ] {
            assert!(same(a, b), "{a} {b}");
        }
    }

    #[test]
    fn values_that_differ_do_not_become_equal() {
        for (a, b) in [
            ("#{1 2}", "[1 2]"),
            ("[1 2]", "[2 1]"),
            ("1", "\"1\""),
            ("1", "10"),
            ("1.5", "15"),
            ("1", "-1"),
            ("1", "1/2"),
            (":a", "\"a\""),
            ("nil", "false"),
            ("18446744073709551616", "18446744073709551617"),
            ("{:a 1}", "{:a 2}"),
            ("#t 1", "#u 1"),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
    }

    #[test]
    fn an_object_equals_nothing_that_can_be_told() {
        assert!(canonical(&to_json(&parse("[1 #object[Foo 0x1b \"Foo\"]]").expect("it is EDN"))).is_err());
    }
}
