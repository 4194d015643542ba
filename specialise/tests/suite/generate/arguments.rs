//! The arguments of the entry function, and what the context says of them.

use drystone_tests::random::Random;

use super::ENTRY;
use super::levels::Level;
use super::state::State;

/// The entry function's parameters.
pub const PARAMETERS: &str = "struct config *config, const u8 *in, u32 in_length, u8 *out";

/// Sizes of what the entry function's pointers point to, and what is said of them.
pub struct Arguments {
    pub in_size: usize,
    pub out_size: usize,
    /// What `in_length` is, if it is known.
    length: Option<usize>,
    /// What the addresses of input and output are multiples of.
    pub align: usize,
    /// Whether nothing else points to input and output; if not, they overlap in some rounds.
    pub unaliased: bool,
    /// Whether the same is said of the configuration.
    config_unaliased: bool,
}

impl Arguments {
    pub fn choose(random: &mut Random, levels: &[Level]) -> Arguments {
        let least = levels.iter().map(|level| level.capacity).max().unwrap_or(0).max(16);
        let in_size = least + random.below(32);
        Arguments {
            in_size,
            out_size: least + random.below(32),
            length: random.one_in(2).then(|| random.below(in_size + 1)),
            align: *random.pick(&[1, 4, 8, 16]),
            unaliased: !random.one_in(4),
            config_unaliased: !random.one_in(4),
        }
    }

    pub fn knows_length(&self) -> bool {
        self.length.is_some()
    }

    /// The C expression that the harness gives `in_length` by.
    pub fn length(&self) -> String {
        match self.length {
            Some(length) => format!("{length}u"),
            None => format!("next() % {}u", self.in_size + 1),
        }
    }

    /// The context, but for global variables.
    pub fn context(&self, state: &State) -> String {
        let config = format!(
            "\n[argument.config]\nalign = 8\nsize = {}\nunaliased = {}\ncontents = [\n{}]\n",
            state.config_size,
            self.config_unaliased,
            state.known_contents()
        );
        let buffer = |name: &str, size: usize| {
            format!(
                "\n[argument.{name}]\nalign = {}\nsize = {size}\nunaliased = {}\n",
                self.align, self.unaliased
            )
        };
        let length = self
            .length
            .map(|length| format!("\n[argument.in_length]\nvalue = {length}\n"))
            .unwrap_or_default();
        format!(
            "entry = \"{ENTRY}\"\nname = \"{ENTRY}_special\"\ninitialisers = [\"init\"]\n{config}{}{length}{}",
            buffer("in", self.in_size),
            buffer("out", self.out_size)
        )
    }
}
