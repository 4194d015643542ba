//! What others have published of kernels that are not measured here.

/// A figure in processor cycles, not in instructions: it stands beside what is counted here, and cannot be divided by it.
pub struct Published {
    /// The kernel, and what was measured.
    pub what: &'static str,
    /// Where.
    pub processor: &'static str,
    /// One way, from one address space to another.
    pub cycles: u64,
}

/// One-way messages of seL4 by its fastpath, with warm caches and nothing to copy. A call and its reply are two of them.
///
/// From Heiser and Elphinstone, "L4 Microkernels: The Lessons from 20 Years of Research and Deployment", ACM Transactions on
/// Computer Systems 34(1), 2016, table I; the same in their "From L3 to seL4: What Have We Learnt in 20 Years of L4
/// Microkernels?", SOSP 2013, table 1. Instructions are not in it. That Haswell had no mitigations, which came later.
pub const SEL4: [Published; 3] = [
    Published { what: "seL4, message one way", processor: "Core i7-4770 (Haswell), 3.4 GHz", cycles: 301 },
    Published { what: "seL4, message one way", processor: "Cortex-A9, 1 GHz", cycles: 316 },
    Published { what: "seL4, message one way", processor: "ARM11, 532 MHz", cycles: 188 },
];
