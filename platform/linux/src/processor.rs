//! Whether this processor has the features that compiled code needs.

use std::arch::is_x86_feature_detected;

/// The features that this processor lacks, of a list with blanks between Cranelift's names.
pub fn missing(features: &str) -> Vec<&str> {
    features.split_whitespace().filter(|feature| !has(feature)).collect()
}

/// Unknown features count as lacking.
fn has(feature: &str) -> bool {
    match feature {
        "sse3" => is_x86_feature_detected!("sse3"),
        "ssse3" => is_x86_feature_detected!("ssse3"),
        "sse41" => is_x86_feature_detected!("sse4.1"),
        "sse42" => is_x86_feature_detected!("sse4.2"),
        "popcnt" => is_x86_feature_detected!("popcnt"),
        "cmpxchg16b" => is_x86_feature_detected!("cmpxchg16b"),
        "avx" => is_x86_feature_detected!("avx"),
        "avx2" => is_x86_feature_detected!("avx2"),
        "fma" => is_x86_feature_detected!("fma"),
        "bmi1" => is_x86_feature_detected!("bmi1"),
        "bmi2" => is_x86_feature_detected!("bmi2"),
        "lzcnt" => is_x86_feature_detected!("lzcnt"),
        "avx_vnni" => is_x86_feature_detected!("avxvnni"),
        "avx512f" => is_x86_feature_detected!("avx512f"),
        "avx512dq" => is_x86_feature_detected!("avx512dq"),
        "avx512vl" => is_x86_feature_detected!("avx512vl"),
        "avx512vbmi" => is_x86_feature_detected!("avx512vbmi"),
        "avx512vnni" => is_x86_feature_detected!("avx512vnni"),
        "avx512bitalg" => is_x86_feature_detected!("avx512bitalg"),
        _ => false,
    }
}
