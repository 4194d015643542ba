//! The targets: a function of the layers, and what is known at its call.

use std::path::{Path, PathBuf};

use super::layers::{Which, own};
use super::shell::{read, write};

/// The goal of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Goal {
    /// So many times as fast as the fastest generic code, and at most 1.1 times the hand-written code's time.
    Generic(f64),
    /// So many times as fast as the fastest generic code.
    GenericOnly(f64),
    /// At most 1.1 times the hand-written code's time.
    Hand,
}

/// A target: a row and those that belong to it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Target {
    /// Its name in the rows and in the driver.
    pub row: &'static str,
    /// The layers of the function.
    pub layers: Which,
    /// The function.
    pub entry: &'static str,
    /// The file that says what is known.
    pub context: Context,
    /// The goal of the main row.
    pub goal: Goal,
    /// Whether it has a loop that a compiler can vectorise.
    pub has_vectors: bool,
    /// Whether it is measured in quick runs.
    pub is_headline: bool,
}

/// A file in the folder `contexts` beside the layers' own functions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Context {
    /// A file as it is.
    File(&'static str),
    /// `array.toml`, for an array of so many numbers.
    Array(usize),
}

/// How many times as fast as generic code the calls must be, at every size.
const OVER_GENERIC: f64 = 9.0;
/// The same for the stack down to the Ethernet frame.
const OVER_STACK: f64 = 2.0;

const PAIR: Target = Target {
    row: "pair",
    layers: Which::Rpc,
    entry: "encode_pair",
    context: Context::File("pair"),
    goal: Goal::Generic(OVER_GENERIC),
    has_vectors: false,
    is_headline: true,
};

const fn array(row: &'static str, entry: &'static str, count: usize) -> Target {
    Target { row, entry, context: Context::Array(count), has_vectors: true, ..PAIR }
}

const fn call(row: &'static str, entry: &'static str, context: &'static str) -> Target {
    Target { row, entry, context: Context::File(context), goal: Goal::Hand, is_headline: false, ..PAIR }
}

const fn frame(row: &'static str, entry: &'static str, context: &'static str) -> Target {
    Target { layers: Which::Stack, goal: Goal::GenericOnly(OVER_STACK), ..call(row, entry, context) }
}

/// All targets, in the page's order.
pub const TARGETS: [Target; 15] = [
    PAIR,
    array("array 20", "encode_array_20", 20),
    array("array 100", "encode_array_100", 100),
    array("array 250", "encode_array_250", 250),
    array("array 1000", "encode_array_1000", 1000),
    call("string", "encode_text", "text"),
    call("union", "encode_variant", "variant"),
    call("list", "encode_list", "list"),
    call("reply", "decode_pair", "reply"),
    Target { has_vectors: true, ..call("reply array 100", "decode_array_100", "reply-array") },
    Target { is_headline: true, ..frame("stub to frame", "send_pair", "send-pair") },
    Target { has_vectors: true, ..frame("stub to frame, array 100", "send_array_100", "send-array-100") },
    Target { has_vectors: true, ..frame("stub to frame, array 250", "send_array_250", "send-array-250") },
    Target { layers: Which::Filter, ..call("bpf filter tcp", "match_web", "web") },
    Target { layers: Which::Filter, ..call("bpf filter udp", "match_nfs", "nfs") },
];

/// Array sizes that show how the time to specialise grows, with their functions.
pub const GROWTH: [(usize, &str); 9] = [
    (1, "encode_array_1"),
    (3, "encode_array_3"),
    (10, "encode_array_10"),
    (30, "encode_array_30"),
    (100, "encode_array_100"),
    (300, "encode_array_300"),
    (1000, "encode_array_1000"),
    (3000, "encode_array_3000"),
    (10_000, "encode_array_10000"),
];

impl Target {
    /// The name of the residual function.
    pub fn residual(&self) -> String {
        format!("{}_special", self.entry)
    }

    /// Its part of file names.
    pub fn file_name(&self) -> String {
        self.row.replace([' ', ','], "-")
    }

    /// The path of its context, written to a folder if it has to be made.
    pub fn context(&self, folder: &Path) -> Result<PathBuf, String> {
        let contexts = own(match self.layers {
            Which::Rpc => "rpc/contexts",
            Which::Stack => "stack/contexts",
            Which::Filter => "filter/contexts",
        });
        match self.context {
            Context::File(name) => Ok(contexts.join(name).with_extension("toml")),
            Context::Array(count) => {
                let text = array_context(&read(&contexts.join("array.toml"))?, count);
                let path = folder.join(format!("array-{count}.toml"));
                write(&path, &text)?;
                Ok(path)
            }
        }
    }
}

/// The target of an array that is specialised only for its time.
pub fn growth(count: usize, entry: &'static str) -> Target {
    array("array", entry, count)
}

/// Bytes of a call before the numbers: its header and their count.
const BEFORE_NUMBERS: usize = 44;

fn array_context(template: &str, count: usize) -> String {
    let bytes = 4 * count;
    template
        .replace("{n}", &count.to_string())
        .replace("{size}", &(BEFORE_NUMBERS + bytes).to_string())
        .replace("{bytes}", &bytes.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_different_names() {
        let mut names = TARGETS.map(|target| target.row).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TARGETS.len());
    }

    #[test]
    fn every_target_has_a_context_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let grown = GROWTH.map(|(count, entry)| growth(count, entry));
        for target in TARGETS.iter().chain(&grown) {
            let text = read(&target.context(folder.path()).unwrap()).unwrap();
            assert!(text.contains(&format!("entry = \"{}\"", target.entry)), "{}", target.row);
            assert!(text.contains(&format!("name = \"{}\"", target.residual())), "{}", target.row);
            assert!(!text.contains('{'), "{text}");
        }
    }

    #[test]
    fn a_context_of_an_array_knows_its_sizes() {
        assert_eq!(
            array_context("entry_{n}\nsize = {size}\nbytes = {bytes}", 20),
            "entry_20\nsize = 124\nbytes = 80"
        );
    }
}
