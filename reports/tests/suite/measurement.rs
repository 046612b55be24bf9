//! Charts and pages of measurements.

use crate::common::ReportFolder;
use crate::pictures::colours;
use zooquake_reports::measurement::{Measurement, Point, Series, write_all};

fn series(name: &str, factor: f64) -> Series {
    let point = |size: u32| Point {
        size,
        values: vec![f64::from(size) * factor, 1.0, 2.5, 130.4],
    };
    Series {
        name: name.into(),
        points: [5, 20, 50].map(point).to_vec(),
    }
}

fn herd() -> Measurement {
    Measurement {
        name: "herd".into(),
        title: "What <one> change costs".into(),
        axis: "candidates".into(),
        quantities: ["watch events", "reads", "writes", "milliseconds"]
            .map(String::from)
            .to_vec(),
        series: vec![series("election/ticket", 1.0), series("election/<b>", 0.1)],
        ..Measurement::default()
    }
}

#[test]
fn a_chart_has_a_line_for_each_thing_and_a_page_its_numbers() {
    let folder = ReportFolder::new("herd");
    let files = write_all(&herd(), &folder.0).unwrap();
    assert_eq!(files, [folder.0.join("herd.png"), folder.0.join("herd.html")]);
    let pixels = colours(&files[0], 0);
    assert_eq!(pixels.values().sum::<usize>(), 1200 * 700);
    assert!(pixels[&[0, 114, 178]] > 300, "the first line");
    assert!(pixels[&[0, 158, 115]] > 300, "the second line");
    let page = std::fs::read_to_string(&files[1]).unwrap();
    assert!(page.contains("src=\"herd.png\""));
    assert!(page.contains("<tr><td>election/ticket</td><td>50</td><td>50</td><td>1</td><td>2.5</td><td>130</td></tr>"));
    assert!(page.contains("What &lt;one&gt; change costs") && !page.contains("<b>"));
}

#[test]
fn a_measurement_of_nothing_is_still_a_chart() {
    let folder = ReportFolder::new("nothing");
    let empty = Measurement {
        series: vec![Series::default()],
        ..herd()
    };
    let files = write_all(&empty, &folder.0).unwrap();
    let pixels = colours(&files[0], 0);
    assert_eq!(pixels.values().sum::<usize>(), 1200 * 700);
    assert!(pixels[&[27, 31, 36]] > 30, "its title and axes");
}
