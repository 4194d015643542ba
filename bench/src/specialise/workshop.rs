//! Builds one set of layers in all ways, and lists the contenders of a target.

use std::path::{Path, PathBuf};

use super::build::{self, Compiler};
use super::drive::{Contender, Driver, fresh};
use super::layers::{Layers, Unit, Which};
use super::specialiser::{Program, Times};
use super::targets::Target;
use super::tools::{self, Clang};

/// The builds of one set of layers.
pub struct Workshop {
    clang: Clang,
    layers: Layers,
    folder: PathBuf,
    ir: Result<Vec<PathBuf>, String>,
    bitcode: Result<Vec<PathBuf>, String>,
    generic: Vec<Library>,
    /// The generic code's objects, for calls that a residual program leaves to it.
    objects: Vec<PathBuf>,
    hand: Vec<Library>,
}

/// A library with the functions of all targets.
struct Library {
    name: &'static str,
    file: Result<PathBuf, String>,
}

/// How code for one purpose is compiled: a contender's name and its options, first of the hand-written code, then of
/// the residual program.
struct Purpose {
    hand: &'static str,
    residual: &'static str,
    is_clang: bool,
    options: &'static str,
    needs_avx2: bool,
}

/// If both are compiled for a purpose, the options are the same.
const PURPOSES: [Purpose; 6] = [
    Purpose::new("hand gcc", "residual gcc", false, "-O3"),
    Purpose::new("hand clang", "residual clang", true, "-O3"),
    Purpose::new("hand scalar gcc", "residual scalar gcc", false, "-O3 -fno-tree-vectorize"),
    Purpose::new("hand scalar clang", "residual scalar clang", true, "-O3 -fno-vectorize -fno-slp-vectorize"),
    Purpose { needs_avx2: true, ..Purpose::new("hand avx2 gcc", "residual avx2 gcc", false, AVX2) },
    Purpose { needs_avx2: true, ..Purpose::new("hand avx2 clang", "residual avx2 clang", true, AVX2) },
];

/// The build of the generic code that residual programs leave calls to.
pub const GENERIC: &str = "generic-clang";

/// With AVX2 and the other extensions of processors that have it.
const AVX2: &str = "-O3 -march=x86-64-v3";

/// The residual program, compiled as a distribution does.
const RESIDUAL_O2: Purpose = Purpose::new("", "residual O2", true, "-O2");

impl Purpose {
    const fn new(
        hand: &'static str,
        residual: &'static str,
        is_clang: bool,
        options: &'static str,
    ) -> Purpose {
        Purpose { hand, residual, is_clang, options, needs_avx2: false }
    }

    fn compiler(&self, clang: Clang) -> Compiler {
        let command = if self.is_clang { clang.command() } else { "gcc".into() };
        Compiler { command, options: self.options }
    }

    fn is_of_this_machine(&self) -> bool {
        !self.needs_avx2 || tools::has_avx2()
    }
}

impl Workshop {
    /// Gets the sources, and builds what all targets share.
    pub fn open(which: Which, clang: Clang, built: &Path) -> Result<Workshop, String> {
        let layers = which.obtain(built)?;
        eprintln!("compiling {}", layers.name);
        let folder = fresh(built.join("built").join(layers.name))?;
        let library = |command: String, folder_name: &str| {
            Compiler { command, options: "-O2" }.library(&layers.units, &folder.join(folder_name))
        };
        let (gcc, clang_library) = (library("gcc".into(), "gcc"), library(clang.command(), "clang"));
        let objects = clang_library.as_ref().map_or(Vec::new(), |(_, objects)| objects.clone());
        let generic = vec![
            Library { name: "generic-gcc", file: gcc.map(|(library, _)| library) },
            Library { name: GENERIC, file: clang_library.map(|(library, _)| library) },
        ];
        let purposes = PURPOSES.iter().filter(|purpose| purpose.is_of_this_machine());
        let hand = purposes.map(|purpose| {
            let output = folder.join(purpose.hand.replace(' ', "-")).with_extension("so");
            Library { name: purpose.hand, file: purpose.compiler(clang).unit(&layers.hand, &[], &output) }
        });
        let hand = hand.collect();
        let ir = build::ir(clang, &layers, &folder.join("ir"));
        let bitcode = build::bitcode(clang, &layers, &folder.join("bitcode"));
        Ok(Workshop { clang, layers, folder, ir, bitcode, generic, objects, hand })
    }

    /// The folder for builds of one target.
    fn folder(&self, target: &Target) -> Result<PathBuf, String> {
        let folder = self.folder.join(target.file_name());
        super::shell::make_folder(&folder)?;
        Ok(folder)
    }

    /// The contenders, with generic code first, to which the others are compared.
    pub fn contenders(&self, target: &Target, driver: &Driver) -> Vec<Contender> {
        let initialiser = self.layers.initialiser;
        let found =
            |library: &Library| Contender::new(library.name, library.file.clone(), target.entry, initialiser);
        let mut contenders: Vec<Contender> = self.generic.iter().filter_map(found).collect();
        contenders.extend(Contender::new("lto", self.whole_program(target), target.entry, initialiser));
        contenders.extend(Contender::new(
            "lto-pgo",
            self.profiled(target, driver),
            target.entry,
            initialiser,
        ));
        contenders.extend(self.hand.iter().filter_map(found));
        contenders
    }

    fn whole_program(&self, target: &Target) -> Result<PathBuf, String> {
        let bitcode = self.bitcode.clone()?;
        build::whole_program(self.clang, &bitcode, &self.kept(target), &self.folder(target)?, "whole")
    }

    fn profiled(&self, target: &Target, driver: &Driver) -> Result<PathBuf, String> {
        let train = |library: &Path, variable: (&str, &Path)| {
            let function = target.entry.to_string();
            let initialiser = self.layers.initialiser;
            let who = Contender { name: "instrumented", library: library.into(), function, initialiser };
            driver.train(target.row, &who, variable)
        };
        build::profiled(
            self.clang,
            &self.layers,
            &self.kept(target),
            &self.folder(target)?,
            "profile",
            &train,
        )
    }

    /// The symbols that must stay visible.
    fn kept(&self, target: &Target) -> Vec<&'static str> {
        [Some(target.entry), self.layers.initialiser].into_iter().flatten().collect()
    }

    /// The program that is specialised for a target.
    pub fn program(&self, target: &Target) -> Result<Program, String> {
        Ok(Program { ir: self.ir.clone()?, context: target.context(&self.folder(target)?)? })
    }

    /// The residual program of a target as C, with the times to make it.
    pub fn residual(
        &self,
        target: &Target,
        program: &Program,
        runs: usize,
    ) -> Result<(PathBuf, Times), String> {
        let c = self.folder(target)?.join("residual.c");
        let times = program.residual(&c, runs)?;
        Ok((c, times))
    }

    /// The residual program, compiled like the hand-written code, and once more like generic code.
    pub fn residuals(&self, target: &Target, c: &Path) -> Vec<Contender> {
        let unit = Unit { file: c.into(), flags: vec!["-w".into()] };
        let purposes = PURPOSES.iter().chain([&RESIDUAL_O2]).filter(|purpose| purpose.is_of_this_machine());
        let contender = |purpose: &Purpose| {
            let output = c.with_file_name(purpose.residual.replace(' ', "-")).with_extension("so");
            let library = purpose.compiler(self.clang).unit(&unit, &self.objects, &output);
            Contender::new(purpose.residual, library, &target.residual(), self.layers.initialiser)
        };
        purposes.filter_map(contender).collect()
    }
}
