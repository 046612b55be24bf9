//! When two values are equal, however they are written.

use crate::{InputError, Value};
use std::collections::HashMap;

/// The values of an object as numbers, equal values as equal ones.
#[derive(Debug, Default)]
pub struct ValueNumbers {
    numbers: HashMap<String, u32>,
    /// Those of the integers that were met, which nearly all values are.
    integers: HashMap<i64, u32>,
    /// The first value of each number.
    values: Vec<Value>,
}

impl ValueNumbers {
    /// The number of a value, which is `what` in an error.
    ///
    /// # Errors It is an object whose text does not identify it, or contains one.
    pub fn number(&mut self, value: &Value, what: impl FnOnce() -> String) -> Result<u32, InputError> {
        let integer = value.as_i64();
        if let Some(&number) = integer.and_then(|integer| self.integers.get(&integer)) {
            return Ok(number);
        }
        let next = self.numbers.len() as u32;
        let Some(text) = canonical(value) else {
            let (what, value) = (what(), value.clone());
            return Err(InputError::Incomparable { what, value });
        };
        let number = *self.numbers.entry(text).or_insert(next);
        if number == next {
            self.values.push(value.clone());
        }
        self.integers.extend(integer.map(|integer| (integer, number)));
        Ok(number)
    }

    /// The value of a number, as it was met first.
    pub fn value(&self, number: u32) -> &Value {
        &self.values[number as usize]
    }
}

/// A value as a text that is the same for equal values: `#{1 2}` and `#{2 1}`, `[1 2]` and `(1 2)`, `1`, `1N` and
/// `1.0`. `None` if it is an object, or holds one, whose text (`#object[…]`) does not identify it.
pub fn canonical(value: &Value) -> Option<String> {
    let all = |values: &[Value]| values.iter().map(canonical).collect::<Option<Vec<_>>>();
    let sorted = |mut texts: Vec<String>| {
        texts.sort_unstable();
        texts.dedup();
        texts.join(" ")
    };
    Some(match value {
        Value::Integer(number) => decimal(&number.to_string()).unwrap_or_default(),
        Value::Float(number) => decimal(&format!("{number:?}")).unwrap_or_else(|| value.to_string()),
        Value::Number(number) => decimal(number).unwrap_or_else(|| number.to_string()),
        Value::List(values) | Value::Vector(values) => format!("[{}]", all(values)?.join(" ")),
        Value::Set(values) => format!("#{{{}}}", sorted(all(values)?)),
        Value::Map(entries) => {
            let entry = |(key, value): &(Value, Value)| Some(format!("{} {}", canonical(key)?, canonical(value)?));
            format!("{{{}}}", sorted(entries.iter().map(entry).collect::<Option<_>>()?))
        }
        Value::Tagged(tagged) if *tagged.0 == *"object" => return None,
        Value::Tagged(tagged) => format!("#{} {}", tagged.0, canonical(&tagged.1)?),
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
