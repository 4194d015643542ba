use drystone_extension::pipe::*;
use std::arch::x86_64::*;
fn main() {
    let mut list = Pipes::new();
    let h = list.add(ready::internet_checksum());
    list.add(ready::swap32());
    unsafe { list.compile_in(Mode::Write, Features::detect(), |c| { std::fs::write("/tmp/dump/code.bin", c).unwrap(); Ok(c.to_vec()) }).unwrap(); std::hint::black_box(r.export(h).unwrap()); }
    let pass = list.compile(Mode::Write).unwrap();
    let mut r = pass.registers();
    let s = vec![1u8; 8192]; let mut d = vec![0u8; 16384];
    for n in [0usize, 4, 8, 24, 32, 64, 128, 160, 256, 1024, 4096, 4128, 4100] {
        let mut best = u64::MAX;
        for _ in 0..200 {
            let t = unsafe { _rdtsc() };
            for _ in 0..100 { r.import(h, 0).unwrap(); pass.run(&s[..n], &mut d[2048..], &mut r).unwrap(); std::hint::black_box(r.export(h).unwrap()); }
            best = best.min((unsafe { _rdtsc() } - t) / 100);
        }
        println!("{n}: {best} ticks");
    }
}
