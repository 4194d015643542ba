//! Expressions that libpcap compiles.
