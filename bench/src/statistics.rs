//! Medians, quartiles and percentiles.

use serde::{Serialize, Serializer};

/// The summary of several measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The figure, usually the median.
    pub value: f64,
    /// The lower quartile.
    pub low: f64,
    /// The upper quartile.
    pub high: f64,
}

impl Figure {
    /// The median and the quartiles; `None` without samples.
    pub fn of(samples: &[f64]) -> Option<Figure> {
        let sorted = sorted(samples);
        let at = |part| percentile(&sorted, part);
        Some(Figure { value: at(0.5)?, low: at(0.25)?, high: at(0.75)? })
    }

    /// A value without a spread.
    pub fn single(value: f64) -> Figure {
        Figure { value, low: value, high: value }
    }
}

/// Serialises the value alone.
impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(rounded(self.value))
    }
}

/// The samples in ascending order.
pub fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The value below which that part of the samples lies, interpolated between neighbours.
pub fn percentile(sorted: &[f64], part: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = part * last as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(below + (above - below) * place.fract())
}

/// Rounds to four digits: more would be noise.
pub fn rounded(x: f64) -> f64 {
    format!("{x:.3e}").parse().expect("what was a number is one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_in_the_middle() {
        assert_eq!(Figure::of(&[3.0, 1.0, 2.0]).unwrap().value, 2.0);
        assert_eq!(Figure::of(&[4.0, 1.0, 2.0, 3.0]).unwrap().value, 2.5);
    }

    #[test]
    fn the_quartiles_are_the_spread() {
        let figure = Figure::of(&[5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
        assert_eq!((figure.low, figure.high), (2.0, 4.0));
    }

    #[test]
    fn one_sample_has_no_spread_and_none_no_figure() {
        assert_eq!(Figure::of(&[7.0]), Some(Figure::single(7.0)));
        assert_eq!(Figure::of(&[]), None);
    }

    #[test]
    fn a_percentile_lies_between_its_neighbours() {
        let hundred: Vec<f64> = (0..=100).map(f64::from).collect();
        assert_eq!(percentile(&hundred, 0.99), Some(99.0));
        assert_eq!(percentile(&[0.0, 10.0], 0.99), Some(9.9));
    }

    #[test]
    fn figures_have_four_digits() {
        assert_eq!(rounded(123.456), 123.5);
        assert_eq!(rounded(0.000_123_456), 0.000_123_5);
    }
}
