//! The words of the command line, as Go's flags are written: `-name value`, and `-best`.

use std::collections::HashMap;

use crate::program::Sizes;

/// What was asked for.
pub struct Arguments {
    cores: usize,
    /// Runs that are measured.
    pub runs: usize,
    /// Runs before those.
    pub warm: usize,
    /// In the quickest way.
    pub best: bool,
    sizes: HashMap<String, i64>,
}

impl Arguments {
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut values = HashMap::new();
        let mut best = false;
        while let Some(word) = words.next() {
            let name = word.strip_prefix('-').ok_or(format!("what is {word}?"))?;
            let name = name.strip_prefix('-').unwrap_or(name);
            if name == "best" {
                best = true;
                continue;
            }
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, value.to_string()),
                None => (name, words.next().ok_or(format!("how many {name}?"))?),
            };
            let value: i64 = value.parse().map_err(|error| format!("-{name} {value}: {error}"))?;
            if value < 0 {
                return Err(format!("-{name} {value}"));
            }
            values.insert(name.to_string(), value);
        }
        let mut take = |name| values.remove(name).map(|value| value as usize);
        let (cores, runs, warm) =
            (take("cores").unwrap_or(1), take("runs").unwrap_or(1), take("warm").unwrap_or(1));
        if cores == 0 {
            return Err("no cores".to_string());
        }
        Ok(Arguments { cores, runs, warm, best, sizes: values })
    }

    pub fn cores(&self) -> usize {
        self.cores
    }

    /// The sizes by their names, in the order of `defaults`; there are no others.
    pub fn sizes(&self, defaults: &[(&'static str, i64)]) -> Result<Sizes, String> {
        if let Some(name) = self.sizes.keys().find(|name| defaults.iter().all(|(known, _)| known != name)) {
            return Err(format!("there is no size -{name}"));
        }
        let size = |&(name, default): &(_, i64)| (name, self.sizes.get(name).copied().unwrap_or(default));
        Ok(Sizes::new(defaults.iter().map(size).collect()))
    }
}
