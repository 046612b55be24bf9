//! When two values are equal, however they are written, and which two a compare-and-set was sent with.

use crate::call::{Call, CallOutcome, InputError};
use crate::value::Value;
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
    /// # Errors
    /// It is an object whose text does not identify it, or contains one.
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

/// The two values of a compare-and-set, the one that it wants and the one that it writes.
///
/// # Errors
/// It has none, or its answer is [of something else](answered_so).
pub(crate) fn compared<'c>(call: &'c Call<'_>) -> Result<[&'c Value; 2], InputError> {
    match call.asked.pair() {
        Some(asked) => answered_so(call, asked),
        None => Err(InputError::Unexpected {
            what: format!("the cas of event {} has no pair of values", call.invoke),
            found: call.asked.clone(),
        }),
    }
}

/// The two values that a compare-and-set was sent with, if its answer leaves no doubt about them.
///
/// # Errors
/// It was answered `ok` with `false` or with other values, by which it is not known what it did.
pub(crate) fn answered_so<'c>(call: &'c Call<'_>, asked: [&'c Value; 2]) -> Result<[&'c Value; 2], InputError> {
    let fields = || Some([call.answered.field("from")?, call.answered.field("to")?]);
    let other = |answered: [&Value; 2]| answered.map(canonical) != asked.map(canonical);
    let doubtful = call.answered == Value::Bool(false) || call.answered.pair().or_else(fields).is_some_and(other);
    match call.complete {
        Some(complete) if call.outcome == CallOutcome::Ok && doubtful => Err(InputError::Unexpected {
            what: format!(
                "what the cas of event {} did is not known: it was answered ok at event {complete}",
                call.invoke
            ),
            found: call.answered.clone(),
        }),
        _ => Ok(asked),
    }
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
