//! Finds the missing Debian package, by the error messages of compilers and shells.

use std::io::ErrorKind;

/// Programs and their packages.
const PROGRAMS: [(&str, &str); 8] = [
    ("cc", "gcc"),
    ("clang-16", "clang-16"),
    ("clang-19", "clang-19"),
    ("erlc", "erlang-base"),
    ("go", "golang-go"),
    ("luajit", "luajit"),
    ("rpcgen", "rpcsvc-proto"),
    ("valgrind", "valgrind"),
];

/// Signs of a missing library in error messages, and the library's packages.
const SIGNS: [(&str, &str); 9] = [
    ("capnp", "capnproto libcapnp-dev"),
    ("nfsc/libnfs.h", "libnfs-dev"),
    ("-lnfs", "libnfs-dev"),
    ("rpc/rpc.h", "libtirpc-dev"),
    ("-ltirpc", "libtirpc-dev"),
    ("pcap/pcap.h", "libpcap-dev"),
    ("pcap/bpf.h", "libpcap-dev"),
    ("-lpcap", "libpcap-dev"),
    ("libclang_rt", "libclang-rt-16-dev"),
];

/// Why a program couldn't be started.
pub fn not_started(program: &str, error: &std::io::Error) -> String {
    let package = PROGRAMS.iter().find(|(name, _)| *name == program);
    match package.filter(|_| error.kind() == ErrorKind::NotFound) {
        Some((_, package)) => format!("there is no {program} (apt-get install {package})"),
        None => format!("{program}: {error}"),
    }
}

/// Why a program failed: the first line of its error, and the missing package if the error is about one.
pub fn failed(said: &str) -> String {
    let first = said.lines().next().unwrap_or("it failed and said nothing");
    match SIGNS.iter().find(|(sign, _)| said.contains(sign)) {
        Some((_, package)) => format!("{first} (apt-get install {package})"),
        None => first.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        let absent = std::io::Error::from(ErrorKind::NotFound);
        assert_eq!(not_started("rpcgen", &absent), "there is no rpcgen (apt-get install rpcsvc-proto)");
        assert!(not_started("javac", &absent).starts_with("javac: "));
        let linker =
            "collect2: error: ld returned 1\n/usr/bin/ld: cannot find -lnfs: No such file or directory\n";
        assert_eq!(failed(linker), "collect2: error: ld returned 1 (apt-get install libnfs-dev)");
        let script =
            "error: failed to run custom build command for `bindings`\n  import failed: capnp/c++.capnp\n";
        assert!(failed(script).ends_with("(apt-get install capnproto libcapnp-dev)"), "{}", failed(script));
        assert_eq!(failed("error: expected `;`\nmore"), "error: expected `;`");
    }
}
