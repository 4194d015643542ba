//! Linux is told the licence of a handler.

use drystone_extension::bytecode::licence;
use drystone_extension::handler::{Image, Machine};
use drystone_handlers::Xdp;

use crate::objects::{compiled, compiled_in};

fn loaded(name: &str) -> Option<Result<Xdp, String>> {
    let image = Image::read(&compiled(name)?, None, Machine::Linux).expect("it is an object");
    match Xdp::load(&image) {
        Err(why) if why.contains("not permitted") => {
            println!("skipped: licences: {why}");
            None
        }
        loaded => Some(loaded),
    }
}

#[test]
fn helpers_for_the_gpl_are_lent_to_handlers_under_it_only() {
    let Some(Ok(_)) = loaded("prints_gpl") else { return };
    for name in ["prints", "prints_mit"] {
        let why = loaded(name).expect("it was permitted").expect_err("it isn't under the GPL");
        assert!(why.contains("GPL"), "{name}: {why}");
    }
}

#[test]
fn licences_are_put_together_as_files_are() {
    let objects = ["prints", "prints_gpl", "prints_mit"].map(compiled);
    let ([Some(silent), Some(gpl), Some(own)], Some(ip)) = (objects, compiled_in("fragments", "ip")) else {
        return;
    };
    let told = |files: &[&[u8]]| licence(files).expect("they are objects");
    assert_eq!(told(&[&gpl]), "GPL");
    assert_eq!(told(&[&ip, &own]), "MIT OR Apache-2.0");
    assert_eq!(told(&[&ip, &gpl]), "GPL");
    assert_eq!(told(&[&ip, &silent]), "");
}
