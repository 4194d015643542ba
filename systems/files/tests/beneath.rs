//! No name leads out of the folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use files::beneath::Beneath;
use files::folder::{Folder, Status, reason};
use tempfile::TempDir;

/// A folder `in` that is served, with a secret beside it.
fn folder() -> (TempDir, Beneath) {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let inner = folder.path().join("in");
    fs::create_dir_all(inner.join("sub")).expect("it is made");
    fs::write(folder.path().join("secret"), "secret").expect("it is written");
    fs::write(inner.join("open"), "open").expect("it is written");
    let beneath = Beneath::new(&inner).expect("it is there");
    (folder, beneath)
}

/// The errors of all operations that take a name.
fn complaints(beneath: &Beneath, name: &[u8]) -> Vec<String> {
    let results = [
        beneath.open(name, b"r").map(drop),
        beneath.open(name, b"rw").map(drop),
        beneath.open(name, b"w").map(drop),
        beneath.open(name, b"x").map(drop),
        beneath.stat(name).map(drop),
        beneath.list(name, b"", 10).map(drop),
        beneath.delete(name),
        beneath.make_folder(name),
        beneath.rename(name, b"sub/stolen"),
        beneath.rename(b"open", name),
    ];
    results.into_iter().map(|result| reason(&result.expect_err("it leads out"))).collect()
}

#[test]
fn no_name_leads_out() {
    let (folder, beneath) = folder();
    let absolute = folder.path().join("secret");
    let absolute = absolute.to_str().expect("a plain path");
    for name in
        ["../secret", "sub/../../secret", "..", "../in/../secret", "/etc/passwd", absolute, "./../secret"]
    {
        let said = complaints(&beneath, name.as_bytes());
        assert!(said.iter().all(|why| why == "not a name within the folder"), "{name}: {said:?}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("secret")).expect("it is there"), "secret");
    assert!(beneath.open(b"sub/../open", b"r").is_ok(), "it stays within");
    assert!(beneath.open(b"open\0/../../secret", b"r").is_err());
}

#[test]
fn symbolic_links_lead_nowhere() {
    let (folder, beneath) = folder();
    let inner = folder.path().join("in");
    symlink("../secret", inner.join("file")).expect("it is made");
    symlink("/etc", inner.join("etc")).expect("it is made");
    symlink("..", inner.join("up")).expect("it is made");
    symlink("open", inner.join("harmless")).expect("it is made");
    symlink("nowhere", inner.join("dangling")).expect("it is made");
    for name in ["file", "etc/passwd", "up/secret", "harmless", "dangling", "etc/"] {
        let opened = beneath.open(name.as_bytes(), b"r").expect_err("it is a link");
        assert_eq!(reason(&opened), "symbolic links lead nowhere here", "{name}");
    }
    assert!(
        beneath.stat(b"file").is_err()
            && beneath.stat(b"etc").is_err()
            && beneath.list(b"up", b"", 9).is_err()
    );
    assert!(beneath.rename(b"open", b"up/stolen").is_err() && beneath.make_folder(b"up/made").is_err());
    // The link itself can be deleted; its target stays.
    beneath.delete(b"file").expect("it is deleted");
    assert!(folder.path().join("secret").exists() && !inner.join("nowhere").exists());
}

#[test]
fn what_is_no_file_is_not_opened_and_nobody_waits_for_it() {
    let (folder, beneath) = folder();
    let fifo = folder.path().join("in/fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("it runs").success());
    for mode in ["r", "rw", "w"] {
        assert_eq!(
            reason(&beneath.open(b"fifo", mode.as_bytes()).expect_err("a pipe")),
            "it is no file",
            "{mode}"
        );
    }
    assert!(beneath.stat(b"fifo").is_err());
    assert_eq!(reason(&beneath.open(b"sub", b"r").expect_err("a folder")), "it is no file");
}

#[test]
fn files_and_folders_are_as_they_are_called() {
    let (_folder, beneath) = folder();
    beneath.make_folder(b"sub/more").expect("it is made");
    drop(beneath.open(b"sub/more/new", b"x").expect("it is made"));
    assert!(beneath.open(b"sub/more/new", b"x").is_err());
    beneath.rename(b"sub/more/new", b"there").expect("it is renamed");
    assert!(matches!(beneath.stat(b"there"), Ok(Status { is_folder: false, size: 0, modified: 1.. })));
    assert!(beneath.stat(b"sub").is_ok_and(|status| status.is_folder));
    let list = |after: &str, most| beneath.list(b"", after.as_bytes(), most).expect("it can be read");
    assert_eq!(list("", 9), ["open", "sub", "there"].map(|name| name.as_bytes().to_vec()));
    assert_eq!(list("open", 1), [b"sub".to_vec()]);
    assert!(beneath.delete(b"sub").is_err(), "it isn't empty");
    beneath.delete(b"sub/more").and_then(|()| beneath.delete(b"sub")).expect("they are empty");
    assert_eq!(list("", 9).len(), 2);
}

/// Renaming folders and links on the way doesn't help to get out.
#[test]
fn what_changes_on_the_way_leads_out_as_little() {
    let (folder, beneath) = folder();
    let inner = folder.path().join("in");
    fs::write(inner.join("sub/secret"), "harmless").expect("it is written");
    symlink("..", inner.join("link")).expect("it is made");
    let is_over = Arc::new(AtomicBool::new(false));
    let swapping = {
        let (inner, is_over) = (inner.clone(), is_over.clone());
        thread::spawn(move || {
            let rename = |from: &str, to: &str| fs::rename(inner.join(from), inner.join(to));
            while !is_over.load(Ordering::Relaxed) {
                rename("sub", "aside").and_then(|()| rename("link", "sub")).expect("they are renamed");
                rename("sub", "link").and_then(|()| rename("aside", "sub")).expect("they are renamed");
            }
        })
    };
    let mut opened = 0;
    for _ in 0..20_000 {
        if let Ok(file) = beneath.open(b"sub/secret", b"r") {
            assert_eq!(std::io::read_to_string(file).expect("it can be read"), "harmless");
            opened += 1;
        }
    }
    is_over.store(true, Ordering::Relaxed);
    swapping.join().expect("it ends well");
    assert!(opened > 0 && Path::new(&folder.path().join("secret")).exists());
}
