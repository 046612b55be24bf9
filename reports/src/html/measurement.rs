//! The page of a measurement: the chart beside it, and the numbers.

use super::{FIRST_STYLE, PAGE_STYLE, PICTURE_STYLE, titled};
use crate::measurement::{Measurement, written};
use crate::text;

/// The page; it shows the chart of the same folder.
pub fn page(measurement: &Measurement) -> String {
    let Measurement { name, title, words, .. } = measurement;
    let each = words.iter().map(|words| format!("<p>{}</p>\n", text::escape(words)));
    let paragraphs: String = each.collect();
    let chart = format!(
        "<p><img src=\"{}.png\" alt=\"{}\" width=\"1200\" height=\"700\"></p>\n",
        text::escape(name),
        text::escape(title)
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src 'self' file:; style-src \
         'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} – zooquake</title>\n<style>\n{styles}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
         <p>{subtitle}</p>\n{chart}{paragraphs}{numbers}\n</body>\n</html>\n",
        title = text::escape(title),
        subtitle = text::escape(&measurement.subtitle),
        styles = [PAGE_STYLE, PICTURE_STYLE, FIRST_STYLE].concat(),
        numbers = titled("numbers", "Numbers", &numbers(measurement)),
    )
}

fn numbers(measurement: &Measurement) -> String {
    let cell = |tag: &str, text: &str| format!("<{tag}>{}</{tag}>", text::escape(text));
    let mut heads = cell("th", "") + &cell("th", &measurement.axis);
    heads.extend(measurement.quantities.iter().map(|quantity| cell("th", quantity)));
    let mut out = format!("<table class=\"numbers\"><thead><tr>{heads}</tr></thead><tbody>");
    for series in &measurement.series {
        for point in &series.points {
            let values: String = point.values.iter().map(|value| cell("td", &written(*value))).collect();
            let size = cell("td", &point.size.to_string());
            out += &format!("<tr>{}{size}{values}</tr>\n", cell("td", &series.name));
        }
    }
    out + "</tbody></table>\n"
}
