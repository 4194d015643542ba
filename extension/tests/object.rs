//! Programs that clang compiled.

use std::path::Path;
use std::process::Command;

use drystone_extension::bytecode::{Object, Program, disassemble, load};

/// Compiles C; none, and says so, where there is no clang that can.
fn compile(name: &str, source: &str) -> Option<Vec<u8>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (file, object) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.o")));
    std::fs::write(&file, source).unwrap();
    for clang in ["clang-16", "clang-19", "clang"] {
        let options = ["-target", "bpf", "-mcpu=v3", "-O2", "-fno-builtin", "-c", "-o"];
        let Ok(status) = Command::new(clang).args(options).arg(&object).arg(&file).status() else { continue };
        assert!(status.success(), "{clang} refuses {name}.c");
        return Some(std::fs::read(object).unwrap());
    }
    println!("skipped: {name}: there is no clang-16 or clang-19");
    None
}

fn helper(name: &str) -> Option<u32> {
    (name == "read").then_some(7)
}

fn text(object: &Object) -> String {
    disassemble(&Program::decode(&object.slots).unwrap())
}

#[test]
fn functions_data_maps_and_helpers_are_found() {
    let source = r#"
        #define SEC(name) __attribute__((section(name), used))
        typedef unsigned long u64;
        extern u64 read(void *map, u64 index);
        static const u64 primes[4] = {2, 3, 5, 7};
        u64 counter = 40;
        struct { int type; } table SEC(".maps");
        __attribute__((noinline)) u64 twice(u64 x) { return 2 * x + counter; }
        __attribute__((noinline)) static u64 prime(u64 x) { return ((volatile const u64 *)primes)[x & 3]; }
        __attribute__((noinline)) u64 unused(u64 x) { return x * x; }
        SEC("xdp") u64 start(u64 x) { counter += 1; return twice(x) + prime(x) + read(&table, x); }
    "#;
    let Some(bytes) = compile("functions", source) else { return };
    let object = load(&bytes, None, &helper).unwrap();
    let names: Vec<&str> = object.functions.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["start", "twice", "prime"]);
    let mut maps: Vec<&str> = object.maps.iter().map(|map| map.name.as_str()).collect();
    maps.sort();
    assert_eq!(maps, [".data", ".rodata", "table"]);
    let data = object.maps.iter().find(|map| map.name == ".data").unwrap();
    assert_eq!((data.bytes.as_slice(), data.writable), (40u64.to_le_bytes().as_slice(), true));
    let primes = object.maps.iter().find(|map| map.name == ".rodata").unwrap();
    assert_eq!((primes.bytes.len(), primes.writable), (32, false));
    let text = text(&object);
    for part in ["call 7", "call local", "map_val(map_by_idx(0))", "lddw %r1, map_by_idx("] {
        assert!(text.contains(part), "{part} isn't in\n{text}");
    }
}

#[test]
fn addresses_of_functions_are_addresses_of_code() {
    let source = r#"
        typedef unsigned long u64;
        __attribute__((noinline)) static u64 one(u64 x) { return x + 1; }
        __attribute__((noinline)) static u64 two(u64 x) { return x + 2; }
        u64 start(u64 x) { u64 (*volatile f)(u64) = x ? one : two; return f(x); }
    "#;
    let Some(bytes) = compile("pointers", source) else { return };
    let text = text(&load(&bytes, Some("start"), &helper).unwrap());
    assert!(text.contains("code_addr(") && text.contains("callx"), "{text}");
}

#[test]
fn what_cant_be_loaded_is_said() {
    assert!(load(b"nothing", None, &helper).unwrap_err().starts_with("this is no object file for BPF"));
    let Some(bytes) = compile("two", "int one(void) { return 1; } int two(void) { return 2; }") else {
        return;
    };
    assert_eq!(load(&bytes, None, &helper).unwrap_err(), "say which function to begin with: one, two");
    assert_eq!(
        load(&bytes, Some("three"), &helper).unwrap_err(),
        "there is no function `three`; there are: one, two"
    );
    let Some(bytes) = compile("lacking", "extern int write(void); int one(void) { return write(); }") else {
        return;
    };
    assert_eq!(
        load(&bytes, None, &helper).unwrap_err(),
        "function `one`: there is neither a function nor a helper `write`"
    );
}

#[test]
fn damaged_files_are_refused_or_loaded_but_dont_hurt() {
    let source = "extern int read(int); int x = 5; int one(void) { return read(x); }";
    let Some(bytes) = compile("damaged", source) else { return };
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            let _ = load(&bytes, None, &helper);
        }
        let _ = load(&bytes[..at], None, &helper);
    }
}
