//! The peers in other languages. Each is built if its language is installed; otherwise it has no figures, and the
//! reason is reported.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::contender::{Contender, Manner, Start};
use crate::{packages, places};

/// A language, and how its peers are built.
struct Language {
    mirror: &'static str,
    best: &'static str,
    folder: &'static str,
    build: fn(&Path, &Path) -> Result<Start, String>,
}

const LANGUAGES: [Language; 4] = [
    Language { mirror: "go-mirror", best: "go-best", folder: "bench/peers/go", build: go },
    Language { mirror: "java-mirror", best: "java-best", folder: "bench/peers/java", build: java },
    Language { mirror: "erlang-mirror", best: "erlang-best", folder: "bench/peers/erlang", build: erlang },
    Language { mirror: "tokio-mirror", best: "tokio-best", folder: "bench/peers/tokio", build: tokio },
];

/// Builds them all; reports on standard error which are missing, and why.
pub fn all() -> Vec<Contender> {
    LANGUAGES.iter().flat_map(contenders).collect()
}

fn contenders(language: &Language) -> [Contender; 2] {
    let &Language { mirror, best, folder, build } = language;
    eprintln!("building {mirror}");
    let sources = places::root().join(folder);
    let built = places::peers().join(folder.rsplit('/').next().expect("a folder has a name"));
    let start = fs::create_dir_all(&built)
        .map_err(|error| format!("{}: {error}", built.display()))
        .and_then(|()| build(&sources, &built));
    if let Err(why) = &start {
        eprintln!("{mirror} and {best} are missing: {why}");
    }
    [(mirror, Manner::Mirror), (best, Manner::Best)].map(|(name, manner)| Contender {
        name,
        manner,
        start: start.clone(),
        folder,
    })
}

fn go(sources: &Path, built: &Path) -> Result<Start, String> {
    let executable = built.join("peers");
    run(Command::new("go").args(["build", "-o"]).arg(&executable).arg(".").current_dir(sources))?;
    Ok(Start { words: vec![executable.into()], ..Start::default() })
}

/// The first version whose virtual threads don't pin their carriers.
const JAVA: u32 = 25;

/// The best options for these programs: bench/peers/java/README.md says why.
const JAVA_OPTIONS: [&str; 3] = ["-XX:+UseSerialGC", "-Xmx4g", "-Dwarm.ms=1000"];

fn java(sources: &Path, built: &Path) -> Result<Start, String> {
    let home = java_home()?;
    let mut compile = Command::new(home.join("bin/javac"));
    let mut files: Vec<PathBuf> = fs::read_dir(sources)
        .map_err(|error| format!("{}: {error}", sources.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "java"))
        .collect();
    files.sort();
    run(compile.arg("-d").arg(built).args(files))?;
    let mut words: Vec<OsString> = vec![home.join("bin/java").into()];
    words.extend(JAVA_OPTIONS.map(OsString::from));
    words.extend(["-cp".into(), built.into(), "Main".into()]);
    Ok(Start { words, ..Start::default() })
}

fn java_home() -> Result<PathBuf, String> {
    java_homes().into_iter().find(|home| is_java(home)).ok_or_else(|| {
        format!("no JDK {JAVA} or newer in JAVA_HOME, in /usr/lib/jvm or in the PATH: see bench/peers/java/README.md")
    })
}

fn java_homes() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    homes.push("/usr".into());
    homes.extend(
        fs::read_dir("/usr/lib/jvm").into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())),
    );
    homes
}

fn is_java(home: &Path) -> bool {
    let version = run(Command::new(home.join("bin/javac")).arg("-version")).unwrap_or_default();
    let number = version.trim().strip_prefix("javac ").and_then(|text| text.split('.').next()?.parse().ok());
    number.is_some_and(|number: u32| number >= JAVA)
}

fn erlang(sources: &Path, built: &Path) -> Result<Start, String> {
    let folder = fs::read_dir(sources.join("src")).map_err(|error| format!("erlang/src: {error}"))?;
    let files = folder.filter_map(|entry| Some(entry.ok()?.path()));
    let modules = files.filter(|path| path.extension().is_some_and(|extension| extension == "erl"));
    run(Command::new("erlc").arg("-o").arg(built).args(modules))?;
    Ok(Start { words: vec![sources.join("run").into()], environment: vec![("ERLANG_BEAMS", built.into())] })
}

fn tokio(sources: &Path, built: &Path) -> Result<Start, String> {
    let mut build = Command::new("cargo");
    build.args(["build", "--release", "--locked", "--quiet", "--target-dir"]).arg(built);
    run(build.current_dir(sources))?;
    Ok(Start { words: vec![built.join("release/peers").into()], ..Start::default() })
}

/// Peers of the engines.
pub mod engines {
    use super::*;

    const FOLDER: &str = "composite";
    /// The hint for what is missing.
    pub const INSTALL: &str = "bench/peers/composite/README.md says what to install";

    /// The engines in Rust.
    pub fn rust() -> Result<PathBuf, String> {
        told("the engines in Rust", FOLDER, |sources, built| {
            Ok(tokio(sources, built)?.words[0].clone().into())
        })
    }

    /// wasmtime, which takes much longer to build.
    pub fn wasm() -> Result<PathBuf, String> {
        told("wasmtime", FOLDER, |sources, built| {
            let mut build = Command::new("cargo");
            build.args(["build", "--release", "--locked", "--quiet", "--bin", "wasm", "--features", "wasm"]);
            run(build.arg("--target-dir").arg(built).current_dir(sources))?;
            Ok(built.join("release/wasm"))
        })
    }

    /// The folder of native code: `loops`, and `libnull.so` for peers that call C.
    pub fn native() -> Result<PathBuf, String> {
        told("native code", FOLDER, |sources, built| {
            let file = |name: &str| sources.join("c").join(name);
            let mut loops = Command::new("cc");
            loops.args(["-O2", "-o"]).arg(built.join("loops"));
            run(loops.args([file("loops.c"), file("null.c")]))?;
            let mut library = Command::new("cc");
            library.args(["-O2", "-shared", "-fPIC", "-o"]).arg(built.join("libnull.so"));
            run(library.arg(file("null.c")))?;
            Ok(built.into())
        })
    }

    /// `java`, and the folder of the class.
    pub fn java() -> Result<(PathBuf, PathBuf), String> {
        let home = java_home()?;
        let classes = told("Java's loops", FOLDER, |sources, built| {
            let mut compile = Command::new(java_home()?.join("bin/javac"));
            run(compile.arg("-d").arg(built).arg(sources.join("java/Loops.java")))?;
            Ok(built.into())
        });
        Ok((home.join("bin/java"), classes?))
    }

    /// A client of NFS that copies a file.
    pub fn nfs() -> Result<PathBuf, String> {
        let client = told("the NFS client", FOLDER, |sources, built| {
            let (source, client) = (sources.join("nfs/copy.c"), built.join("nfs-copy"));
            run(Command::new("cc").args(["-O2", "-o"]).arg(&client).arg(source).arg("-lnfs"))?;
            Ok(client)
        });
        client.map_err(|why| format!("{why}; {INSTALL}"))
    }

    /// Compiles the loops with javac.
    pub fn compile_java(to: &Path) -> Result<(), String> {
        let source = places::root().join("bench/peers").join(FOLDER).join("java/Loops.java");
        run(Command::new(java_home()?.join("bin/javac")).arg("-d").arg(to).arg(source)).map(drop)
    }

    /// Compiles the loops with cc.
    pub fn compile_c(to: &Path) -> Result<(), String> {
        let source = places::root().join("bench/peers").join(FOLDER).join("c/loops.c");
        let object = to.join("loops.o");
        run(Command::new("cc").args(["-O2", "-c", "-o"]).arg(object).arg(source)).map(drop)
    }

    /// The script for LuaJIT.
    pub fn lua() -> Result<PathBuf, String> {
        run(Command::new("luajit").arg("-v")).map_err(|why| format!("{why}; {INSTALL}"))?;
        Ok(places::root().join("bench/peers").join(FOLDER).join("lua/loops.lua"))
    }
}

/// Peers of the bindings.
pub mod joints {
    use super::*;

    /// The peers in Rust.
    pub fn rust() -> Result<PathBuf, String> {
        told("the peers in Rust", "bindings", |sources, built| {
            Ok(tokio(sources, built)?.words[0].clone().into())
        })
    }

    /// The folder of libtirpc's `server` and `client`.
    pub fn onc() -> Result<PathBuf, String> {
        told("libtirpc's", "onc", |sources, built| {
            for (option, file) in [("-h", "joint.h"), ("-l", "joint_clnt.c"), ("-m", "joint_svc.c")] {
                // rpcgen doesn't overwrite files.
                let _ = fs::remove_file(built.join(file));
                let mut rpcgen = Command::new("rpcgen");
                // rpcgen writes its input's relative path into its output.
                fs::copy(sources.join("joint.x"), built.join("joint.x"))
                    .map_err(|error| error.to_string())?;
                run(rpcgen.args([option, "-o", file, "joint.x"]).current_dir(built))?;
            }
            for (made, stub) in [("server", "joint_svc.c"), ("client", "joint_clnt.c")] {
                let mut compile = Command::new("cc");
                compile.args(["-O2", "-I/usr/include/tirpc", "-I"]).arg(built);
                compile.arg(sources.join(made).with_extension("c")).arg(built.join(stub));
                run(compile.args(["-ltirpc", "-o"]).arg(built.join(made)))?;
            }
            Ok(built.into())
        })
    }

    /// The peers in Go.
    pub fn go() -> Result<PathBuf, String> {
        told("net/http's", "go", |sources, built| Ok(super::go(sources, built)?.words[0].clone().into()))
    }
}

type Build = fn(&Path, &Path) -> Result<PathBuf, String>;

fn told(what: &str, folder: &str, build: Build) -> Result<PathBuf, String> {
    eprintln!("building {what}");
    let (sources, built) = (places::root().join("bench/peers").join(folder), places::peers().join(folder));
    let made = fs::create_dir_all(&built).map_err(|error| format!("{}: {error}", built.display()));
    made.and_then(|()| build(&sources, &built)).inspect_err(|why| eprintln!("{what} can't be built: {why}"))
}

/// Compiles a C file of the peers' folder.
pub fn c(compiler: &str, options: &[&str], source: &str, name: &str) -> Result<PathBuf, String> {
    let built = places::peers().join(name);
    fs::create_dir_all(places::peers()).map_err(|error| error.to_string())?;
    let mut command = Command::new(compiler);
    command.arg(places::root().join("bench/peers").join(source)).args(options).arg("-o").arg(&built);
    run(&mut command)?;
    Ok(built)
}

/// The output of a short command, or why it failed.
pub fn run(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| packages::not_started(&command.get_program().display().to_string(), &error))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(packages::failed(&String::from_utf8_lossy(&output.stderr))),
    }
}
