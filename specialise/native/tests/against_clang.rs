//! Compares C code that goes through clang's IR and Cranelift, as it stands and polished, with the same code compiled
//! by clang.

use drystone_specialise::ir::Module;
use drystone_specialise::{parse, passes};
use drystone_specialise_native as native;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// A shared object that stays until the test ends.
struct Shared(*mut c_void);

impl Shared {
    fn open(file: &Path) -> Shared {
        const NOW: c_int = 2;
        let name = CString::new(file.to_str().expect("its name is text")).expect("it has no zero byte");
        // SAFETY: the file was just made by the compiler; its code does nothing when it is loaded.
        let library = unsafe { dlopen(name.as_ptr(), NOW) };
        assert!(!library.is_null(), "{} can't be loaded", file.display());
        Shared(library)
    }

    fn symbol(&self, name: &str) -> Option<*const u8> {
        let name = CString::new(name).ok()?;
        // SAFETY: the library is open, and the name ends with a zero byte.
        let address = unsafe { dlsym(self.0, name.as_ptr()) };
        (!address.is_null()).then_some(address.cast_const().cast())
    }
}

fn clang() -> Option<&'static str> {
    let found = ["clang-16", "clang-19", "clang"].into_iter().find(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    });
    if found.is_none() {
        drystone_golden::skipped("there is no clang");
    }
    found
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn compile(clang: &str, arguments: &[&str], source: &Path, output: &Path) {
    let done =
        Command::new(clang).args(arguments).arg("-o").arg(output).arg(source).status().expect("it runs");
    assert!(done.success(), "{} can't be compiled", source.display());
}

/// Numbers that look random, with some at the edges.
fn numbers() -> impl Iterator<Item = (u64, u64)> {
    const EDGES: [u64; 8] = [0, 1, 2, u64::MAX, 1 << 63, 0x7fff_ffff, 0x8000_0000, 0x8080];
    let mut state = 0x0123_4567_89ab_cdefu64;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let number = state ^ state >> 31;
        number >> (number & 63)
    };
    let edges = EDGES.into_iter().flat_map(|a| EDGES.into_iter().map(move |b| (a, b)));
    edges.chain(std::iter::from_fn(move || Some((next(), next()))).take(300))
}

/// Runs each `t_` function of a file as machine code of both kinds.
fn compare(file: &str, level: &[&str]) {
    let Some(clang) = clang() else { return };
    let room = tempfile::tempdir().expect("there is room for files");
    let source = sources().join(file);
    let (text, object) = (room.path().join("code.ll"), room.path().join("code.so"));
    let foreign_object = room.path().join("foreign.so");
    compile(clang, &["-O1", "-shared", "-fPIC"], &sources().join("foreign.c"), &foreign_object);
    let foreign = Shared::open(&foreign_object);
    compile(clang, &[level, &["-g", "-emit-llvm", "-S"]].concat(), &source, &text);
    let foreign_name = foreign_object.to_str().expect("its name is text");
    compile(
        clang,
        &[level, &["-shared", "-fPIC", foreign_name, "-Wl,--no-as-needed", "-lm"]].concat(),
        &source,
        &object,
    );
    let shared = Shared::open(&object);

    let text = std::fs::read_to_string(text).expect("the compiler wrote it");
    let read = || parse::read(&text, file).expect("the compiler writes what can be read");
    let symbols = |name: &str| foreign.symbol(name).or_else(|| shared.symbol(name));
    compare_with(&shared, &symbols, &read(), level);
    let mut polished = read();
    passes::polish(&mut polished);
    passes::polish_for_machine(&mut polished);
    compare_with(&shared, &symbols, &polished, level);
}

/// Runs each `t_` function of a module and of a shared object.
fn compare_with(
    shared: &Shared,
    symbols: &dyn Fn(&str) -> Option<*const u8>,
    module: &Module,
    level: &[&str],
) {
    let native = native::load(module, symbols).unwrap_or_else(|error| panic!("{error}"));
    let mut run = 0;
    for function in module.functions.iter().filter(|function| function.name.starts_with("t_")) {
        type Function = extern "C" fn(u64, u64) -> u64;
        let mine = native.function(&function.name).expect("it is defined");
        let theirs = shared.symbol(&function.name).expect("it is exported");
        // SAFETY: all these functions have this type, and `native` lives.
        let (mine, theirs) = unsafe {
            (
                std::mem::transmute::<*const u8, Function>(mine),
                std::mem::transmute::<*const u8, Function>(theirs),
            )
        };
        for (a, b) in numbers() {
            assert_eq!(mine(a, b), theirs(a, b), "{} of {a:#x} and {b:#x}, {level:?}", function.name);
        }
        run += 1;
    }
    assert!(run > 5, "only {run} functions were found");
}

const FIRST: &[&str] = &["-O1"];
const SECOND: &[&str] = &["-O2", "-fno-vectorize", "-fno-slp-vectorize"];

#[test]
fn arithmetic_memory_and_control_flow() {
    compare("arithmetic.c", FIRST);
}

#[test]
fn arithmetic_memory_and_control_flow_with_more_optimisation() {
    compare("arithmetic.c", SECOND);
}

#[test]
fn calls_to_and_from_c() {
    compare("calls.c", FIRST);
}

#[test]
fn calls_to_and_from_c_with_more_optimisation() {
    compare("calls.c", SECOND);
}
