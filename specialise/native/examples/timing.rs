//! Measures machine code by Cranelift against clang's scalar code, and how long compiling takes.
//!
//! `DRYSTONE_VERIFY_PASSES=0 cargo run --release -p drystone-specialise-native --example timing [clang]`

use drystone_specialise::{parse, passes};
use drystone_specialise_native as native;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

const KERNELS: [&str; 7] =
    ["swap_array", "swap_int_index", "sum_array", "while_loop", "straight", "copies", "pairs"];
const WORDS: usize = 4096;
const SCALAR: [&str; 3] = ["-O2", "-fno-vectorize", "-fno-slp-vectorize"];

type Kernel = extern "C" fn(*mut u32, *const u32, i64);

fn compile(clang: &str, arguments: &[&str], source: &Path, output: &Path) {
    let done = Command::new(clang).args(arguments).arg("-o").arg(output).arg(source).status();
    assert!(done.is_ok_and(|status| status.success()), "{clang} can't compile {}", source.display());
}

/// The shortest time of many runs.
fn time(kernel: Kernel) -> Duration {
    let input: Vec<u32> = (0..WORDS as u32 + 64).map(|n| n.wrapping_mul(2654435761)).collect();
    let mut output = vec![0u32; 2 * WORDS];
    let mut best = Duration::MAX;
    for _ in 0..400 {
        let start = Instant::now();
        for _ in 0..10 {
            kernel(output.as_mut_ptr(), input.as_ptr(), WORDS as i64);
        }
        best = best.min(start.elapsed());
    }
    best / 10
}

fn main() {
    let clang = std::env::args().nth(1).unwrap_or_else(|| "clang-16".to_owned());
    let room = tempfile::tempdir().expect("there is room for files");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/kernels.c");
    let object = room.path().join("kernels.so");
    compile(&clang, &[&SCALAR[..], &["-shared", "-fPIC"]].concat(), &source, &object);
    let name = CString::new(object.to_str().expect("its name is text")).expect("it has no zero byte");
    // SAFETY: the file was just made; its code does nothing when it is loaded.
    let library = unsafe { dlopen(name.as_ptr(), 2) };
    for level in [&["-O1"][..], &SCALAR[..]] {
        let text = room.path().join("kernels.ll");
        compile(&clang, &[level, &["-emit-llvm", "-S"]].concat(), &source, &text);
        let text = std::fs::read_to_string(text).expect("the compiler wrote it");
        let mut module = parse::read(&text, "kernels.ll").expect("the compiler writes what can be read");
        let start = Instant::now();
        passes::polish_for_machine(&mut module);
        let native = native::load(&module, &|_| None).unwrap_or_else(|error| panic!("{error}"));
        println!("{level:?}: {} functions in {:?}", module.functions.len(), start.elapsed());
        for kernel in KERNELS {
            let c_name = CString::new(kernel).expect("it has no zero byte");
            let mine = native.function(kernel).expect("it is defined");
            // SAFETY: the library is open; all kernels have this type; the buffers are larger than what they touch.
            let (mine, theirs) = unsafe {
                let theirs = dlsym(library, c_name.as_ptr());
                (
                    std::mem::transmute::<*const u8, Kernel>(mine),
                    std::mem::transmute::<*mut c_void, Kernel>(theirs),
                )
            };
            let (mine, theirs) = (time(mine), time(theirs));
            println!(
                "  {kernel:16} {mine:>10.2?} against {theirs:>10.2?}: {:.2}",
                mine.as_secs_f64() / theirs.as_secs_f64()
            );
        }
    }
    let text = room.path().join("one.ll");
    let one = room.path().join("one.c");
    let all = std::fs::read_to_string(&source).expect("it was just compiled");
    let start = all.find("uint32_t hundred").expect("it is there");
    std::fs::write(&one, format!("#include <stdint.h>\n{}", &all[start..])).expect("there is room for it");
    compile(&clang, &["-O1", "-emit-llvm", "-S"], &one, &text);
    let text = std::fs::read_to_string(text).expect("the compiler wrote it");
    let module = parse::read(&text, "one.ll").expect("the compiler writes what can be read");
    let count: usize = module
        .functions
        .iter()
        .enumerate()
        .filter_map(|(at, _)| module.body(drystone_specialise::ir::FunctionId(at as u32)).ok().flatten())
        .flat_map(|body| body.blocks.iter().map(|block| block.instructions.len() + 1).collect::<Vec<_>>())
        .sum();
    let times = (0..50).map(|_| {
        let start = Instant::now();
        native::load(&module, &|_| None).unwrap_or_else(|error| panic!("{error}"));
        start.elapsed()
    });
    println!("{count} instructions in {:?}", times.min().expect("there are some"));
}
