//! Where handlers (`drystone_extension::handler`) run on Linux.

mod bpf;
