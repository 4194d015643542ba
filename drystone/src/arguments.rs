//! The command line, with its help.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use drystone_compiler::Processor;
use drystone_component::size;
use drystone_handlers::{Engine, Mode};

use crate::output::{Status, wrong};
use crate::project::Project;

/// Programs put together from components.
#[derive(Parser)]
#[command(version)]
pub struct Command {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Subcommand)]
pub enum Action {
    /// Compile a program and run it
    ///
    /// Standard output, standard error and the exit status are the program's. A run-time error ends it with status
    /// 1. A program with errors in its text is not run: status 2.
    Run(Run),
    /// Say what is wrong with a program, without running it
    Check(Check),
    /// Compile a program to an executable that needs nothing else, or put a system of native components together
    ///
    /// All arguments of the executable are the program's. How it runs is set by environment variables, which mean
    /// the same as the options of `drystone run`: DRYSTONE_CORES, DRYSTONE_MEMORY, DRYSTONE_STATS,
    /// DRYSTONE_GRAPHICS, DRYSTONE_CONTROL.
    Build(Build),
    /// Lay out source files, in place
    Fmt(Fmt),
    /// Draw a program's components, their interfaces and their connections
    ///
    /// With --live it is a program that runs: with what its processes wait for and what has gone through its bindings.
    /// Many components in one place that are alike are one box.
    Graph(Graph),
    /// Write an interface down for others: what their tools make clients and servers of
    Describe(Describe),
    /// Show a running program: its components, connections, processes and bindings
    ///
    /// The program was started with `drystone run --control SOCKET`, or with DRYSTONE_CONTROL=SOCKET.
    Inspect(Inspect),
    /// Give a connection of a running program another binding
    ///
    /// It is done at a point where the protocol allows that; no message is lost.
    Rebind(Rebind),
    /// Make a small project to start from: a folder with Cargo.toml, program and test
    ///
    /// In the folder, or within it, `drystone run`, `check`, `build`, `graph`, `fmt` and `test` need no file names.
    New(New),
    /// Run tests: programs that end with status 0 and print what stands in the .expected beside them, if there is one
    ///
    /// Tests of a project are the files that `tests` in its Cargo.toml names, by default tests/*.dry. They run in the
    /// project's folder. Ends with status 1 if a test has failed.
    Test(Test),
    /// Make the project depend on a package: a crate with source files in the language, or with components in Rust
    ///
    /// It is taken from the registry of crates, from a folder (--path) or from a Git repository (--git), by `cargo
    /// add`. `IMPORT Name` then finds the file Name.dry or name.dry of the package.
    Add(Add),
    /// Make the project depend on a package no longer
    Remove(Remove),
    /// Collapse the layers of C code for what is known of a call
    ///
    /// The program is given as LLVM IR text: `clang-16 -O1 -g -fno-discard-value-names -emit-llvm -S` of each C file.
    /// The context is a TOML file that names the function and says what is known of its arguments and of memory.
    #[command(disable_help_flag = true)]
    Specialise {
        /// See `drystone specialise --help`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Make the libraries that a released command has beside it
    #[command(hide = true)]
    Libraries {
        /// Where to
        folder: PathBuf,
    },
    /// Code that runs where messages arrive: check it, attach it to a network interface
    ///
    /// A handler is a C file that includes <drystone/handler.h> (see `drystone handler new`), or the object that
    /// clang-19 makes of it. It runs in Linux's kernel (XDP), or where that can't be, in this process.
    Handler(HandlerCommand),
}

#[derive(Args)]
pub struct HandlerCommand {
    #[command(subcommand)]
    pub action: HandlerAction,
}

#[derive(Subcommand)]
pub enum HandlerAction {
    /// Write a handler to start from, with the header that it needs
    New {
        /// Where to
        #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
    /// Say what Drystone's verifier and Linux's make of a handler
    Check(HandlerFile),
    /// Have a handler run for what arrives at a network interface
    ///
    /// In Linux it stays there until it is detached. In the other engines it runs as long as this command does. Several
    /// can be at an interface in Linux, if each has a filter (--filter, --port). If several filters want a message, the
    /// one that fixes most bits gets it, of equal ones the older.
    Attach(Attach),
    /// Show the handlers that stay attached in Linux, where they are, and what they are for
    List,
    /// Count a handler's runs in Linux; with a filter, also what was beyond its share
    Stats {
        /// The handler's name
        name: String,
        /// For so long
        #[arg(long, default_value_t = 1)]
        seconds: u64,
    },
    /// Take a handler from its interface; others that are there go on
    Detach {
        /// The handler's name
        name: String,
    },
}

#[derive(Args)]
pub struct HandlerFile {
    /// A C file, or an object file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// The handler's function, if there are several
    #[arg(long, value_name = "FUNCTION")]
    pub entry: Option<String>,
}

#[derive(Args)]
pub struct Attach {
    #[command(flatten)]
    pub file: HandlerFile,
    /// The network interface
    #[arg(long, value_name = "INTERFACE")]
    pub on: String,
    /// What runs it
    #[arg(long, value_enum, default_value_t = Engine::Auto)]
    pub engine: Engine,
    /// Where in Linux
    #[arg(long, value_enum, default_value_t = Mode::Any)]
    pub mode: Mode,
    /// What it is called from then on [default: its function]
    #[arg(long)]
    pub name: Option<String>,
    /// Only for what an expression of libpcap wants, such as 'udp dst port 7000' (needs tcpdump)
    #[arg(long, value_name = "EXPRESSION", conflicts_with = "port")]
    pub filter: Option<String>,
    /// Only for datagrams to this port, over IPv4
    #[arg(long)]
    pub port: Option<u16>,
    /// With a filter, it runs so often in ten milliseconds at most; what comes beyond that is passed on [default:
    /// 10000]
    #[arg(long, value_name = "RUNS")]
    pub share: Option<u64>,
    /// The interface's queue (by AF_XDP)
    #[arg(long, default_value_t = 0)]
    pub queue: u32,
    /// End after so long (not by XDP)
    #[arg(long)]
    pub seconds: Option<u64>,
}

/// A program's text.
#[derive(Args)]
pub struct Source {
    /// Source files; several are one program, with what they import [default: the project's entry]
    #[arg(value_name = "FILE.dry", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// The component that starts [default: the one marked ENTRYPOINT, or the last of the first file]
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// A library crate to build in, which adds components, naming contexts or binding factories (needs cargo)
    #[arg(long, value_name = "CRATE", value_hint = ValueHint::DirPath)]
    pub with: Vec<PathBuf>,
}

impl Source {
    /// If no file is named, takes the entry of the project, and gives the project.
    pub fn complete(&mut self) -> Result<Option<Project>, Status> {
        if !self.files.is_empty() {
            return Ok(None);
        }
        let project = Project::current()?;
        self.files.push(project.entry()?);
        Ok(Some(project))
    }
}

#[derive(Args)]
#[command(
    override_usage = "drystone run [OPTIONS] FILE.dry.. [ARGUMENTS]..\n       drystone run [OPTIONS] [-- ARGUMENTS..]"
)]
pub struct Run {
    /// Source files (several are one program), then the program's arguments, after -- if they look like source files
    /// [default: the project's entry]
    #[arg(
        value_name = "FILE.dry",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_hint = ValueHint::FilePath
    )]
    pub files: Vec<OsString>,
    /// The component that starts [default: the one marked ENTRYPOINT, or the last of the first file]
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// A library crate to build in, which adds components, naming contexts or binding factories (needs cargo)
    #[arg(long, value_name = "CRATE", value_hint = ValueHint::DirPath)]
    pub with: Vec<PathBuf>,
    #[command(flatten)]
    pub target: Target,
    /// Processors to use; 0: all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub cores: usize,
    /// Most memory for the program's components and processes: bytes, or with K, M, G [default: what the machine has]
    #[arg(long, value_name = "LIMIT", value_parser = bytes)]
    pub memory: Option<usize>,
    /// Say at the end, on standard error, how long it took and what it took
    #[arg(long)]
    pub stats: bool,
    /// Where to save what the program drew
    #[arg(long, value_name = "OUT.png", value_hint = ValueHint::FilePath)]
    pub graphics: Option<PathBuf>,
    /// A Unix socket for `drystone inspect` and `drystone rebind`
    #[arg(long, value_name = "SOCKET", value_hint = ValueHint::FilePath)]
    pub control: Option<PathBuf>,
}

#[derive(Args)]
pub struct Check {
    #[command(flatten)]
    pub source: Source,
}

#[derive(Args)]
pub struct Build {
    #[command(flatten)]
    pub source: Source,
    /// The executable [default: the first file's name without .dry, or the project's name]
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub target: Target,
    /// Text instead of an executable, to OUT or standard output: the compiler's form between program and machine code
    #[arg(long)]
    pub mir: bool,
    /// Also say how many bytes of it are whose: each component's, and each crate's of what it runs on
    #[arg(long, conflicts_with = "mir")]
    pub sizes: bool,
    /// Which processors it is for; it says so and ends with status 1 on one that has not got what it needs
    #[arg(long, value_enum, default_value_t = Cpu::V2)]
    pub cpu: Cpu,
}

/// Where a program runs.
#[derive(Args)]
pub struct Target {
    /// Where the program runs
    #[arg(long, value_enum, default_value_t = Platform::Linux)]
    pub platform: Platform,
    /// A file, or a folder whose files, the program finds by their names: an image's initial files (with --platform pc)
    #[arg(long = "files", value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub initial: Vec<PathBuf>,
}

impl Target {
    /// Whether what is said fits together.
    pub fn check(&self) -> Result<(), Status> {
        if self.platform != Platform::Pc && !self.initial.is_empty() {
            return Err(wrong("--files needs --platform pc: a process finds its files where it runs"));
        }
        Ok(())
    }
}

/// Where a program runs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Platform {
    /// A process of Linux
    Linux,
    /// A PC without an operating system: an image that a machine boots, or QEMU
    Pc,
}

/// For which processors code is made.
#[derive(Clone, Copy, ValueEnum)]
pub enum Cpu {
    /// x86-64-v2: all since about 2009
    V2,
    /// x86-64-v3: most since about 2013
    V3,
    /// x86-64-v4: servers since about 2017
    V4,
    /// This machine's
    Native,
}

impl From<Cpu> for Processor {
    fn from(cpu: Cpu) -> Processor {
        match cpu {
            Cpu::V2 => Processor::V2,
            Cpu::V3 => Processor::V3,
            Cpu::V4 => Processor::V4,
            Cpu::Native => Processor::Native,
        }
    }
}

#[derive(Args)]
pub struct Fmt {
    /// Source files [default: all of the project]
    #[arg(value_name = "FILE.dry", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Change nothing; name the files that would change, and end with status 1 if there are any
    #[arg(long)]
    pub check: bool,
}

#[derive(Args)]
pub struct Inspect {
    /// The program's socket
    #[arg(value_name = "SOCKET", value_hint = ValueHint::FilePath)]
    pub socket: PathBuf,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// How many components at most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub most: usize,
}

#[derive(Args)]
pub struct Rebind {
    /// The program's socket
    #[arg(value_name = "SOCKET", value_hint = ValueHint::FilePath)]
    pub socket: PathBuf,
    /// The component whose connection it is, as `inspect` shows it: City.house[17]
    pub path: String,
    /// The interface that it requires
    pub interface: String,
    /// What it is to be connected to from now on: tcp://host:7000/files, local:files
    pub name: String,
    /// Which slot of the interface, if it has a cardinality
    #[arg(long, default_value_t = 1)]
    pub slot: usize,
    /// What the language writes behind BY: Monitored, "Restricted(rate: 3), Tcp(capacity: 100)"
    #[arg(long, value_name = "FACTORIES")]
    pub by: Option<String>,
    /// How long it may take until the protocol allows it; then it is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
}

#[derive(Args)]
#[command(
    override_usage = "drystone graph [OPTIONS] [FILE.dry]..\n       drystone graph [OPTIONS] --live SOCKET"
)]
pub struct Graph {
    /// Source files; several are one program, with what they import [default: the project's entry]
    #[arg(value_name = "FILE.dry", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// The component that starts [default: the one marked ENTRYPOINT, or the last of the first file]
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// A library crate that the program is built with
    #[arg(long, value_name = "CRATE", value_hint = ValueHint::DirPath)]
    pub with: Vec<PathBuf>,
    /// Instead of a text: the socket of a program that runs with --control, which is drawn as it is now
    #[arg(
        long,
        value_name = "SOCKET",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["files", "entry", "with"]
    )]
    pub live: Option<PathBuf>,
    /// Text for Graphviz instead of a drawing (SVG); also if OUT ends in .dot
    #[arg(long)]
    pub dot: bool,
    /// Where to save it [default: standard output]
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct Describe {
    /// The source file that declares it, or imports what does
    #[arg(value_name = "FILE.dry", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Its name
    #[arg(value_name = "INTERFACE")]
    pub interface: String,
    /// As ONC RPC knows it: the .x file for rpcgen [default]
    #[arg(long)]
    pub onc: bool,
    /// As datagrams have it (udp:): its form, and the numbers and parameters of its messages
    #[arg(long, conflicts_with_all = ["onc", "options"])]
    pub udp: bool,
    /// What BY says where it is exported, such as integers=32 or procedures=Get=1,Put=2
    #[arg(long = "with", value_name = "OPTION=VALUE")]
    pub options: Vec<String>,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct New {
    /// The folder to make
    #[arg(value_hint = ValueHint::DirPath)]
    pub name: PathBuf,
}

#[derive(Args)]
pub struct Test {
    /// Tests: files, or parts of the names of the project's tests [default: all of the project]
    #[arg(value_name = "NAME", value_hint = ValueHint::FilePath)]
    pub names: Vec<String>,
    /// How long a test may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
}

#[derive(Args)]
pub struct Add {
    /// The crate, perhaps with a version: words, words@1.2 [default with --path or --git: the one that is there]
    #[arg(value_name = "NAME", required_unless_present_any = ["path", "git"])]
    pub name: Option<String>,
    /// From this folder instead of the registry
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, conflicts_with = "git")]
    pub path: Option<PathBuf>,
    /// From this Git repository instead of the registry
    #[arg(long, value_name = "URL")]
    pub git: Option<String>,
}

#[derive(Args)]
pub struct Remove {
    /// The crate
    #[arg(value_name = "NAME")]
    pub name: String,
}

/// An amount of memory in bytes.
fn bytes(text: &str) -> Result<usize, String> {
    let bytes = size::bytes(text).filter(|&bytes| bytes > 0);
    bytes.ok_or_else(|| "a number of bytes, such as 512M or 1G, is needed".to_string())
}
