//! The processors that code is made for.

use cranelift_codegen::isa::{self, TargetIsa};
use cranelift_codegen::settings::Configurable;

/// The processor features that generated code may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Processor {
    /// All features of the processor that runs the compiler.
    Native,
    /// x86-64-v2: all since about 2009.
    #[default]
    V2,
    /// x86-64-v3: most since about 2013.
    V3,
    /// x86-64-v4: servers since about 2017.
    V4,
}

/// What each level adds to the one before it, as Cranelift calls it.
const V2: &[&str] = &["sse3", "ssse3", "sse41", "sse42", "popcnt", "cmpxchg16b"];
const V3: &[&str] = &["avx", "avx2", "fma", "bmi1", "bmi2", "lzcnt"];
const V4: &[&str] = &["avx512f", "avx512dq", "avx512vl"];

impl Processor {
    /// Cranelift's builder for it.
    pub(crate) fn builder(self) -> isa::Builder {
        if self == Processor::Native {
            return cranelift_native::builder().expect("Drystone runs on x86-64");
        }
        let levels: &[&[&str]] = match self {
            Processor::Native | Processor::V2 => &[V2],
            Processor::V3 => &[V2, V3],
            Processor::V4 => &[V2, V3, V4],
        };
        let mut builder = isa::lookup_by_name("x86_64-unknown-linux-gnu").expect("Cranelift knows x86-64");
        for feature in levels.iter().copied().flatten() {
            builder.enable(&format!("has_{feature}")).expect("Cranelift knows the feature");
        }
        builder
    }
}

/// The names of the features that the code needs, separated by blanks.
pub(crate) fn features(isa: &dyn TargetIsa) -> String {
    let flags = isa.isa_flags();
    let used = flags.iter().filter(|flag| flag.as_bool() == Some(true));
    used.filter_map(|flag| flag.name.strip_prefix("has_")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_codegen::settings;

    fn features_of(processor: Processor) -> Vec<String> {
        let flags = settings::Flags::new(settings::builder());
        let isa = processor.builder().finish(flags).expect("the settings fit together");
        let mut names: Vec<String> = features(&*isa).split(' ').map(str::to_string).collect();
        names.sort();
        names
    }

    #[test]
    fn each_level_has_what_it_says_and_no_more() {
        let levels =
            [(Processor::V2, vec![V2]), (Processor::V3, vec![V2, V3]), (Processor::V4, vec![V2, V3, V4])];
        for (processor, parts) in levels {
            let mut expected = parts.concat();
            expected.sort();
            assert_eq!(features_of(processor), expected);
        }
    }
}
