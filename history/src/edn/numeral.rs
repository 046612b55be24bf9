//! Numbers of EDN, and those that Clojure prints beside.

use super::Edn;

fn decimal(token: &str) -> Edn {
    token.parse().map_or_else(|_| Edn::Number(token.to_owned()), Edn::Int)
}

/// The number that a token is; `None` for what begins like one and is none.
pub fn number(token: &str) -> Option<Edn> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = token.strip_prefix(['+', '-']).unwrap_or(token);
    if digits(unsigned) {
        return Some(decimal(token));
    }
    // An object's text, `#object[Name 0x1b2c3d "…"]`, holds such.
    if let Some(digits) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        let value = u64::from_str_radix(digits, 16)
            .ok()
            .filter(|_| !digits.starts_with('+'))?;
        let sign = token
            .strip_suffix(unsigned)
            .filter(|sign| *sign == "-")
            .unwrap_or_default();
        return Some(decimal(&format!("{sign}{value}")));
    }
    let float = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok();
    let other = match unsigned.split_once('/') {
        Some((over, under)) => digits(over) && digits(under),
        None => unsigned.strip_suffix('N').is_some_and(digits) || unsigned.strip_suffix('M').is_some_and(float),
    };
    if other {
        return Some(Edn::Number(token.to_owned()));
    }
    let value: f64 = token.parse().ok().filter(|_| float(unsigned))?;
    Some(if value.is_finite() {
        Edn::Float(value)
    } else {
        Edn::Number(token.to_owned())
    })
}
