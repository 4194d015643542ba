//! Compares kernels with their record.

use super::record::Counts;

/// A kernel may grow by this part without a new record.
const MARGIN: f64 = 0.05;

/// A kernel beside its record.
struct Row<'a> {
    kernel: &'a str,
    recorded: Option<f64>,
    now: Option<f64>,
    verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Within the margin.
    Same,
    Grown,
    Shrunk,
    /// A kernel without a record.
    New,
    /// A record without a kernel.
    Gone,
}

/// Whether a count exceeds its record by so much that it needs a new one.
pub fn has_grown(recorded: f64, now: f64) -> bool {
    now > recorded * (1.0 + MARGIN)
}

/// The error if the counts don't fit the record.
pub fn check(recorded: &Counts, now: &Counts) -> Result<(), String> {
    let failed: Vec<_> =
        rows(recorded, now).filter(|row| row.verdict.fails()).map(|row| row.describe()).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join(", ")) }
}

/// A line for each kernel, under a heading.
pub fn table(recorded: &Counts, now: &Counts) -> String {
    let heading = line("kernel", "recorded", "now", "change", "");
    rows(recorded, now).fold(heading, |table, row| table + &row.line())
}

/// All kernels that are recorded or exist, in order.
fn rows<'a>(recorded: &'a Counts, now: &'a Counts) -> impl Iterator<Item = Row<'a>> {
    let mut kernels: Vec<&str> = recorded.keys().chain(now.keys()).map(String::as_str).collect();
    kernels.sort_unstable();
    kernels.dedup();
    kernels.into_iter().map(|kernel| {
        let (recorded, now) = (recorded.get(kernel).copied(), now.get(kernel).copied());
        Row { kernel, recorded, now, verdict: Verdict::of(recorded, now) }
    })
}

impl Row<'_> {
    fn change(&self) -> Option<String> {
        let (recorded, now) = self.recorded.zip(self.now)?;
        Some(format!("{:+.1} %", (now / recorded - 1.0) * 100.0))
    }

    fn line(&self) -> String {
        let shown = |count: Option<f64>| count.map_or("-".into(), |count| count.to_string());
        let change = self.change().unwrap_or("-".into());
        line(self.kernel, &shown(self.recorded), &shown(self.now), &change, self.verdict.remark())
    }

    fn describe(&self) -> String {
        match self.change() {
            Some(change) => format!("{}: {} ({change})", self.kernel, self.verdict.remark()),
            None => format!("{}: {}", self.kernel, self.verdict.remark()),
        }
    }
}

impl Verdict {
    fn of(recorded: Option<f64>, now: Option<f64>) -> Verdict {
        match (recorded, now) {
            (None, _) => Verdict::New,
            (_, None) => Verdict::Gone,
            (Some(recorded), Some(now)) if has_grown(recorded, now) => Verdict::Grown,
            (Some(recorded), Some(now)) if now < recorded * (1.0 - MARGIN) => Verdict::Shrunk,
            _ => Verdict::Same,
        }
    }

    /// Only growth fails: shrinking is good news.
    fn fails(self) -> bool {
        !matches!(self, Verdict::Same | Verdict::Shrunk)
    }

    fn remark(self) -> &'static str {
        match self {
            Verdict::Same => "",
            Verdict::Grown => "grown",
            Verdict::Shrunk => "shrunk: recorded, it cannot grow back unnoticed",
            Verdict::New => "not recorded",
            Verdict::Gone => "recorded, but not there",
        }
    }
}

fn line(kernel: &str, recorded: &str, now: &str, change: &str, remark: &str) -> String {
    let line = format!("{kernel:<10}{recorded:>10}{now:>10}{change:>10}  {remark}");
    line.trim_end().to_string() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts<const N: usize>(counts: [(&str, f64); N]) -> Counts {
        counts.map(|(kernel, count)| (kernel.to_string(), count)).into()
    }

    #[test]
    fn what_has_grown_by_more_than_the_margin_fails() {
        let recorded = counts([("array", 100.0), ("message", 200.0)]);
        assert_eq!(check(&recorded, &counts([("array", 105.0), ("message", 200.0)])), Ok(()));
        let error = check(&recorded, &counts([("array", 106.0), ("message", 220.0)])).unwrap_err();
        assert_eq!(error, "array: grown (+6.0 %), message: grown (+10.0 %)");
    }

    #[test]
    fn what_has_grown_passes_once_it_is_recorded() {
        let now = counts([("array", 106.0)]);
        assert!(check(&counts([("array", 100.0)]), &now).is_err());
        assert_eq!(check(&now, &now), Ok(()));
    }

    #[test]
    fn what_has_shrunk_is_told_but_does_not_fail() {
        let (recorded, now) = (counts([("array", 100.0)]), counts([("array", 94.0)]));
        assert_eq!(check(&recorded, &now), Ok(()));
        assert!(table(&recorded, &now).contains("shrunk"));
        assert!(!table(&recorded, &counts([("array", 95.0)])).contains("shrunk"));
    }

    #[test]
    fn kernels_and_records_belong_together() {
        let error = check(&counts([("old", 1.0)]), &counts([("new", 1.0)])).unwrap_err();
        assert_eq!(error, "new: not recorded, old: recorded, but not there");
    }

    #[test]
    fn the_table_has_a_line_for_each_kernel() {
        let table =
            table(&counts([("array", 34.8), ("text", 300.0)]), &counts([("array", 34.8), ("text", 330.0)]));
        let lines = [
            "kernel      recorded       now    change",
            "array           34.8      34.8    +0.0 %",
            "text             300       330   +10.0 %  grown",
        ];
        assert_eq!(table.lines().collect::<Vec<_>>(), lines);
    }
}
