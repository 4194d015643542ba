//! The layers of C that are specialised, and how their files are compiled: real libraries, with our own functions on
//! top (bench/peers/c) that use them.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::shell::{make_folder, run, write};
use super::sources;
use crate::places;

/// A file and its compiler flags.
#[derive(Clone)]
pub struct Unit {
    /// The absolute path.
    pub file: PathBuf,
    /// Flags, without those for optimisation.
    pub flags: Vec<String>,
}

/// Layers that belong together.
pub struct Layers {
    /// The name of its folder in bench/peers/c, and of the folder for what is built.
    pub name: &'static str,
    /// From our own functions down to the lowest layer.
    pub units: Vec<Unit>,
    /// The same functions written by hand.
    pub hand: Unit,
    /// A function that has to run before.
    pub initialiser: Option<&'static str>,
}

/// The sets of layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// rpcgen's stubs over libtirpc.
    Rpc,
    /// The same over lwIP, down to the Ethernet frame.
    Stack,
    /// libpcap's interpreter of packet filters.
    Filter,
}

impl Which {
    /// All sets.
    pub const ALL: [Which; 3] = [Which::Rpc, Which::Stack, Which::Filter];

    /// Gets the sources, or why they can't be had.
    pub fn obtain(self, built: &Path) -> Result<Layers, String> {
        match self {
            Which::Rpc => rpc(built),
            Which::Stack => stack(built),
            Which::Filter => filter(built),
        }
    }
}

const LIBTIRPC: [&str; 8] = [
    "auth_none",
    "rpc_callmsg",
    "rpc_commondata",
    "rpc_prot",
    "xdr",
    "xdr_array",
    "xdr_mem",
    "xdr_reference",
];

const LWIP: [&str; 15] = [
    "core/udp",
    "core/ip",
    "core/ipv4/ip4",
    "core/ipv4/ip4_addr",
    "core/ipv4/ip4_frag",
    "core/ipv4/icmp",
    "core/ipv4/etharp",
    "netif/ethernet",
    "core/netif",
    "core/pbuf",
    "core/mem",
    "core/memp",
    "core/inet_chksum",
    "core/def",
    "core/init",
];

fn rpc(built: &Path) -> Result<Layers, String> {
    let library = sources::obtain("libtirpc", built)?;
    let (own, made) = (own("rpc"), built.join("rpc"));
    make_folder(&made)?;
    write(&made.join("config.h"), "")?;
    for (option, file) in [("-h", "messages.h"), ("-c", "messages_xdr.c")] {
        // rpcgen names its output after its input, so it gets the input as a file of this folder.
        let made_file = made.join(file);
        let _ = std::fs::remove_file(&made_file);
        std::fs::copy(own.join("messages.x"), made.join("messages.x"))
            .map_err(|error| format!("messages.x: {error}"))?;
        run(Command::new("rpcgen").args([option, "-o", file, "messages.x"]).current_dir(&made))?;
    }
    // As in its own makefile, with old-style function declarations.
    let flags = Flags::new()
        .words("-std=gnu17 -w -D_GNU_SOURCE -DPORTMAP -DINET6")
        .includes([&made, &own, &library.join("tirpc")])
        .file("-include", &own.join("single_thread.h"))
        .file("-include", &made.join("config.h"));
    let mut files = vec![own.join("calls.c"), made.join("messages_xdr.c")];
    files.extend(LIBTIRPC.map(|name| library.join(format!("src/{name}.c"))));
    Ok(Layers {
        name: "rpc",
        units: files.into_iter().map(|file| flags.unit(file)).collect(),
        hand: flags.unit(own.join("hand.c")),
        initialiser: Some("open_client"),
    })
}

fn stack(built: &Path) -> Result<Layers, String> {
    let rpc = rpc(built)?;
    let library = sources::obtain("lwip", built)?.join("src");
    let (calls, own) = (own("rpc"), own("stack"));
    let flags = Flags::new().words("-w").includes([&own, &calls, &library.join("include")]);
    let mut files = vec![own.join("send.c")];
    files.extend(LWIP.map(|name| library.join(format!("{name}.c"))));
    let mut units: Vec<Unit> = files.into_iter().map(|file| flags.unit(file)).collect();
    units.extend(rpc.units);
    let mut hand = Unit { file: own.join("hand.c"), ..rpc.hand };
    hand.flags.push(format!("-I{}", own.display()));
    Ok(Layers { name: "stack", units, hand, initialiser: Some("open_stack") })
}

fn filter(built: &Path) -> Result<Layers, String> {
    let library = sources::obtain("libpcap", built)?;
    let (own, made) = (own("filter"), built.join("filter"));
    make_folder(&made)?;
    write(&made.join("config.h"), "")?;
    let flags = Flags::new().words("-w -D_GNU_SOURCE").includes([&made, &own, &library]);
    let files = [own.join("match.c"), library.join("bpf_filter.c")];
    Ok(Layers {
        name: "filter",
        units: files.into_iter().map(|file| flags.unit(file)).collect(),
        hand: flags.unit(own.join("hand.c")),
        initialiser: None,
    })
}

/// A folder of our own C code.
pub fn own(folder: &str) -> PathBuf {
    places::root().join("bench/peers/c").join(folder)
}

/// Compiler flags.
struct Flags(Vec<String>);

impl Flags {
    fn new() -> Flags {
        Flags(Vec::new())
    }

    fn words(mut self, words: &str) -> Flags {
        self.0.extend(words.split_whitespace().map(String::from));
        self
    }

    fn includes<const N: usize>(mut self, folders: [&PathBuf; N]) -> Flags {
        self.0.extend(folders.map(|folder| format!("-I{}", folder.display())));
        self
    }

    fn file(mut self, option: &str, file: &Path) -> Flags {
        self.0.extend([option.to_string(), file.display().to_string()]);
        self
    }

    fn unit(&self, file: PathBuf) -> Unit {
        Unit { file, flags: self.0.clone() }
    }
}
