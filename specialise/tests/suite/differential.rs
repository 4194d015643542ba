//! Generated programs must do the same specialised as they do otherwise: the same result, bytes, global state, and
//! calls to functions outside. `DRYSTONE_CASES` says how many programs (50 unless it is set), `DRYSTONE_SEED` where
//! to begin.
//!
//! A program that fails is made again in smaller sizes; the smallest that still fails is left in a folder of the
//! target folder with all that was made of it, and the folder and the seed are in the message.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::generate::Program;
use crate::toolchain::Compiler;
use crate::{residual, toolchain};
use drystone_golden::{for_all_seeds, generated_cases};

/// How large generated programs are.
const SIZE: usize = 4;

#[test]
fn specialised_programs_do_the_same() {
    let Some(clang) = Compiler::clang() else { return };
    examine_all("specialised", generated_cases(50), |seed, size, folder| {
        compare_specialised(&clang, seed, &Program::new(seed, size), folder)
    });
}

/// The tests above mean nothing if the programs aren't defined. So two compilers must agree on what they do, one of
/// them with its sanitisers watching.
#[test]
fn generated_programs_are_defined() {
    let Some(clang) = Compiler::clang() else { return };
    let Some(other) = Compiler::named("gcc") else {
        return drystone_golden::skipped("there is no gcc in PATH");
    };
    examine_all("defined", generated_cases(50) / 10, |seed, size, folder| {
        compare_compilers(&clang, &other, &Program::new(seed, size), folder)
    });
}

/// Examines programs of so many seeds; of those that fail, smaller ones too.
fn examine_all(name: &str, cases: u64, examine: impl Fn(u64, usize, &Path) -> Result<(), String> + Sync) {
    for_all_seeds(cases, SIZE, |seed, size| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{seed}-{size}"));
        std::fs::create_dir_all(&folder).expect("the target folder can be written");
        // A panic of the specialiser leaves the folder, too.
        examine(seed, size, &folder).map_err(|problem| format!("in {}:\n{problem}", folder.display()))?;
        std::fs::remove_dir_all(&folder).expect("the target folder can be written");
        Ok(())
    });
}

/// Runs a program and its specialised forms, all in one process.
fn compare_specialised(clang: &Compiler, seed: u64, program: &Program, folder: &Path) -> Result<(), String> {
    let sources = write_sources(program, folder)?;
    let mut inputs = Vec::new();
    for source in &sources {
        let ir = source.with_extension("ll");
        clang.to_ir(source, &ir)?;
        inputs.push(ir);
    }
    let forms = residual::write(&inputs, &program.context, folder)?;
    let names: Vec<&str> = forms.iter().map(|form| form.name.as_str()).collect();
    let harness = program.harness(&names);
    inputs.extend(forms.iter().map(|form| form.file.clone()));
    inputs.push(written(folder.join("harness.c"), &harness)?);
    // What is undefined in a residual program shows in what an optimiser makes of it; but that takes time.
    let optimise = if seed.is_multiple_of(4) { "-O2" } else { "-O0" };
    let binary = folder.join("compare");
    clang.link(&[optimise], &inputs, &binary)?;
    run(&binary).map(|_| ())
}

/// Runs a program as two compilers make it.
fn compare_compilers(
    clang: &Compiler,
    other: &Compiler,
    program: &Program,
    folder: &Path,
) -> Result<(), String> {
    let mut inputs = write_sources(program, folder)?;
    inputs.push(written(folder.join("harness.c"), &program.harness(&[]))?);
    let (watched, optimised) = (folder.join("watched"), folder.join("optimised"));
    let watching = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"];
    clang.link(&watching, &inputs, &watched)?;
    // With temporary expression replacement, GCC 12 delays a vector load past stores that may overlap it; a program
    // in which it did so does the same without that pass, with GCC's other levels, and with clang at all of them.
    other.link(&["-O2", "-fno-tree-ter"], &inputs, &optimised)?;
    let (watched, optimised) = (run(&watched)?, run(&optimised)?);
    if watched == optimised {
        return Ok(());
    }
    Err(format!("the compilers disagree:\n{watched}but optimised by the other:\n{optimised}"))
}

fn write_sources(program: &Program, folder: &Path) -> Result<Vec<PathBuf>, String> {
    written(folder.join("context.toml"), &program.context)?;
    program.files.iter().map(|(name, text)| written(folder.join(name), text)).collect()
}

fn written(path: PathBuf, text: &str) -> Result<PathBuf, String> {
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// What a program writes, if it ends well.
fn run(binary: &Path) -> Result<String, String> {
    let outcome = toolchain::run(Command::new(binary))?;
    if outcome.success { Ok(outcome.text) } else { Err(outcome.text) }
}
