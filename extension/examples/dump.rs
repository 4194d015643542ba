use drystone_extension::pipe::*;
use std::ffi::*;
unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}
fn main() {
    let mut list = Pipes::new();
    let h = list.add(ready::internet_checksum());
    list.add(ready::swap32());
    let pass = list.compile(Mode::Write).unwrap();
    let mut r = pass.registers();
    let all = vec![0u8; 5*4096].leak();
    let b = all.as_ptr().align_offset(4096);
    let (s, d) = all[b..].split_at_mut(4096+2048);
    let f = unsafe { let l = dlopen(c"/tmp/dump/c.so".as_ptr(), 2); std::mem::transmute::<*mut c_void, extern "C" fn(*mut u8, *const u8, usize) -> u32>(dlsym(l, c"integrated".as_ptr())) };
    let mut best = [u128::MAX; 2];
    for _ in 0..300 {
    let t = std::time::Instant::now();
    for _ in 0..10_000 { one(&pass, &s[..4096], d, &mut r, h); }
    best[0] = best[0].min(t.elapsed().as_nanos());
    let t = std::time::Instant::now();
    for _ in 0..10_000 { std::hint::black_box(f(std::hint::black_box(d.as_mut_ptr()), std::hint::black_box(s.as_ptr()), 4096)); }
    best[1] = best[1].min(t.elapsed().as_nanos());
    }
    println!("{best:?}");
}
#[inline(never)]
fn one(pass: &Pass, s: &[u8], d: &mut [u8], r: &mut Registers, h: Handle) {
    r.import(h, 0).unwrap();
    pass.run(s, d, r).unwrap();
    std::hint::black_box(r.export(h).unwrap());
}
