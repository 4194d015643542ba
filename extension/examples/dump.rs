use drystone_extension::pipe::*;
fn main() {
    let mut list = Pipes::new();
    list.add(ready::internet_checksum());
    list.add(ready::swap32());
    unsafe { list.compile_in(Mode::Write, Features::detect(), |c| { std::fs::write("/tmp/dump/code.bin", c).unwrap(); Ok(c.to_vec()) }).unwrap(); }
}
