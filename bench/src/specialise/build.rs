//! Builds the measured shared objects: as a distribution does, by the best whole-program optimisation, and as code for
//! one purpose is compiled.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::layers::{Layers, Unit};
use super::shell::{make_folder, run};
use super::tools::Clang;

/// A way to compile.
#[derive(Clone)]
pub struct Compiler {
    /// The compiler: `gcc`, `clang-16`.
    pub command: String,
    /// Its options for optimisation.
    pub options: &'static str,
}

/// The layers' symbols take precedence over old ones of the C library with the same name.
const SHARED: [&str; 4] = ["-shared", "-fPIC", "-Wl,-Bsymbolic", "-Wl,--no-undefined"];

/// Aligns all functions to cache lines: otherwise a short function's place decides over a tenth of its time, even
/// between two with the same instructions.
const ALIGNED: &str = "-falign-functions=64";

/// The threshold of inlining in whole-program optimisation, far above the default.
const INLINE: &str = "--inline-threshold=10000";

impl Compiler {
    /// Compiles each unit by itself and links them; returns the objects, too.
    pub fn library(&self, units: &[Unit], folder: &Path) -> Result<(PathBuf, Vec<PathBuf>), String> {
        let objects = self.objects(units, folder, "o")?;
        let library = folder.join("library.so");
        run(Command::new(&self.command).args(SHARED).args(&objects).arg("-o").arg(&library))?;
        Ok((library, objects))
    }

    /// Compiles each unit to an object, bitcode or LLVM text, by the options.
    pub fn objects(&self, units: &[Unit], folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
        make_folder(folder)?;
        let compile = |unit: &Unit| {
            let name = unit.file.file_stem().expect("a unit is a file");
            let object = folder.join(name).with_extension(extension);
            let mut command = Command::new(&self.command);
            command.args(self.options.split_whitespace()).args(["-fPIC", ALIGNED, "-c"]).args(&unit.flags);
            run(command.arg(&unit.file).arg("-o").arg(&object)).map(|_| object)
        };
        units.iter().map(compile).collect()
    }

    /// Compiles one unit to a shared object, with the objects that it may need.
    pub fn unit(&self, unit: &Unit, objects: &[PathBuf], output: &Path) -> Result<PathBuf, String> {
        let mut command = Command::new(&self.command);
        command.args(self.options.split_whitespace()).args(SHARED).arg(ALIGNED).args(&unit.flags);
        run(command.arg(&unit.file).args(objects).arg("-o").arg(output))?;
        Ok(output.into())
    }
}

/// LLVM text of all layers, for the specialiser.
pub fn ir(clang: Clang, layers: &Layers, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let options = "-O1 -g -fno-vectorize -fno-slp-vectorize -emit-llvm -S";
    Compiler { command: clang.command(), options }.objects(&layers.units, folder, "ll")
}

/// Bitcode for whole-program optimisation.
pub fn bitcode(clang: Clang, layers: &Layers, folder: &Path) -> Result<Vec<PathBuf>, String> {
    Compiler { command: clang.command(), options: "-O2 -flto" }.objects(&layers.units, folder, "bc")
}

/// Builds one function and what it needs from bitcode; everything else may be inlined, changed or removed.
pub fn whole_program(
    clang: Clang,
    bitcode: &[PathBuf],
    kept: &[&str],
    folder: &Path,
    name: &str,
) -> Result<PathBuf, String> {
    let at = |extension: &str| folder.join(name).with_extension(extension);
    let (linked, optimised, library) = (at("linked.bc"), at("whole.bc"), at("so"));
    run(Command::new(clang.named("llvm-link")).args(bitcode).arg("-o").arg(&linked))?;
    run(Command::new(clang.named("opt"))
        .args(["-passes=internalize,lto<O3>", INLINE])
        .arg(format!("--internalize-public-api-list={}", kept.join(",")))
        .arg(&linked)
        .arg("-o")
        .arg(&optimised))?;
    run(Command::new(clang.command())
        .args(["-O3", "-mllvm", INLINE])
        .args(SHARED)
        .arg(&optimised)
        .arg("-o")
        .arg(&library))?;
    Ok(library)
}

/// Runs a program in a folder with a variable set, so that it writes its profile.
type Training<'a> = dyn Fn(&Path, (&str, &Path)) -> Result<(), String> + 'a;

/// The same with a profile of branches and calls. `train` gets the instrumented object and the variable with the
/// profile's path.
pub fn profiled(
    clang: Clang,
    layers: &Layers,
    kept: &[&str],
    folder: &Path,
    name: &str,
    train: &Training<'_>,
) -> Result<PathBuf, String> {
    let folder = folder.join(name);
    let compiler = |options| Compiler { command: clang.command(), options };
    let objects = compiler("-O2 -fprofile-generate").objects(&layers.units, &folder, "instrumented.o")?;
    let instrumented = folder.join("instrumented.so");
    let mut link = Command::new(clang.command());
    run(link.arg("-fprofile-generate").args(SHARED).args(&objects).arg("-o").arg(&instrumented))?;
    let (raw, profile) = (folder.join("raw.profraw"), folder.join("default.profdata"));
    train(&instrumented, ("LLVM_PROFILE_FILE", &raw))?;
    run(Command::new(clang.named("llvm-profdata")).arg("merge").arg(&raw).arg("-o").arg(&profile))?;
    let used: Vec<Unit> = layers.units.iter().map(|unit| with_profile(unit, &profile)).collect();
    let bitcode = compiler("-O2 -flto").objects(&used, &folder, "bc")?;
    whole_program(clang, &bitcode, kept, &folder, "profiled")
}

fn with_profile(unit: &Unit, profile: &Path) -> Unit {
    let mut unit = unit.clone();
    unit.flags.push(format!("-fprofile-use={}", profile.display()));
    unit
}
