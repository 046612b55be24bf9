//! The matrix: variants down, faults across, a line for each seed.

use super::{Cell, Night, Outcome};
use crate::{left, text};

/// The variants and the faults of a night, each in the order of its first cell.
pub fn axes(night: &Night) -> (Vec<&str>, Vec<&str>) {
    let (mut variants, mut faults): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for cell in &night.cells {
        if !variants.contains(&cell.variant.as_str()) {
            variants.push(&cell.variant);
        }
        if !faults.contains(&cell.faults.as_str()) {
            faults.push(&cell.faults);
        }
    }
    (variants, faults)
}

pub fn section(night: &Night) -> String {
    let (variants, faults) = axes(night);
    let heads: String = faults
        .iter()
        .map(|list| format!("<th scope=\"col\">{}</th>", text::html(list, 80).replace(',', ",<wbr>")))
        .collect();
    let rows: String = variants.iter().map(|variant| row(night, variant, &faults)).collect();
    let legend: String = Outcome::ALL
        .iter()
        .map(|o| {
            format!(
                "<span class=\"o-{}\"><b>{}</b> {}</span>",
                o.class(),
                o.sign(),
                o.words()
            )
        })
        .collect();
    format!(
        "<section id=\"matrix\">\n<h2>Variants under faults</h2>\n<p class=\"legend\">{legend}</p>\n\
         <div class=\"wide\"><table class=\"matrix\"><thead><tr><td></td>{heads}</tr></thead>\n<tbody>{rows}</tbody></table></div>\n\
         </section>"
    )
}

fn row(night: &Night, variant: &str, faults: &[&str]) -> String {
    let (family, name) = variant.split_once('/').unwrap_or(("", variant));
    let places: String = faults.iter().map(|list| place(night, variant, list)).collect();
    format!(
        "<tr><th scope=\"row\"><span class=\"family\">{}/</span>{}</th>{places}</tr>\n",
        text::html(family, 40),
        text::html(name, 60)
    )
}

fn place(night: &Night, variant: &str, faults: &str) -> String {
    let cells = night.cells.iter();
    let cells = cells.filter(|c| c.variant == variant && c.faults == faults);
    let cells: String = cells.map(cell).collect();
    match cells.is_empty() {
        true => "<td class=\"empty\"><span class=\"o-none\">another part</span></td>".to_string(),
        false => format!("<td>{cells}</td>"),
    }
}

fn cell(cell: &Cell) -> String {
    let mut said = String::new();
    let attempt = cell.decisive();
    let seen = attempt.iter().flat_map(|attempt| &attempt.anomalies);
    for seen in seen.filter(|seen| !seen.advisory) {
        let note = match seen.accepted {
            true => " <i>known</i>",
            false => " <i>new</i>",
        };
        let class = if seen.accepted { "known" } else { "news" };
        let kind = text::html(&seen.kind, 60);
        said.push_str(&format!(
            "<span class=\"seen {class}\" title=\"{}\">{kind} × {}{note}</span>",
            text::html(&seen.why, 300),
            text::grouped(seen.count)
        ));
    }
    said.push_str(&left::chips(
        attempt.into_iter().flat_map(|attempt| &attempt.not_judged),
    ));
    let again = match cell.attempts.len() {
        0 | 1 => String::new(),
        n => format!(" <small>after {n} runs</small>"),
    };
    let words = match (cell.outcome, attempt.and_then(|attempt| attempt.verdict.as_deref())) {
        (Outcome::Expected, Some("valid")) => "valid",
        (Outcome::Expected, Some("invalid")) => "as known",
        (outcome, _) => outcome.words(),
    };
    let label = format!("<b>{}</b> <span>{words}</span>", cell.outcome.sign());
    let link = match attempt.and_then(|attempt| attempt.run.as_ref()) {
        Some(run) => format!("<a href=\"{}/report.html\">{label}</a>", text::escape(run)),
        None => label,
    };
    format!(
        "<div class=\"cell o-{}\">{link}{again} <small>seed {}</small>{said}</div>",
        cell.outcome.class(),
        attempt.map_or(cell.seed, |attempt| attempt.seed)
    )
}
