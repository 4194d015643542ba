//! FileSystem, Files, Blocks, SystemTime and Arguments, with real files.

mod harness;

use std::fs;
use std::path::Path;

use drystone_linux::Options;
use harness::{V, run};

fn name(directory: &Path, file: &str) -> V {
    V::text(directory.join(file).to_str().unwrap())
}

#[test]
fn a_file_is_written_and_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_path_buf();
    let status = run(&["FileSystem"], Options::default(), move |client| async move {
        let file = client.required("FileSystem");
        assert_eq!(file.ask("New", [name(&path, "a")]).await.0, "Done");
        file.send("WriteText", [V::text("first\nsecond\r\n\0lost")]).await;
        file.send("Write", [V::Byte(b'x')]).await;
        assert_eq!(file.ask("GetLength", []).await, ("Length", vec![V::Int(15)]));
        assert_eq!(file.ask("ReadByte", []).await, ("EOF", vec![]));
        file.send("SetPosition", [V::Int(1)]).await;
        assert_eq!(file.ask("ReadByte", []).await, ("Byte", vec![V::Byte(b'i')]));
        assert_eq!(file.ask("GetPosition", []).await, ("Position", vec![V::Int(2)]));
        assert_eq!(file.ask("ReadLine", []).await, ("Line", vec![V::text("rst")]));
        assert_eq!(file.ask("ReadLine", []).await, ("Line", vec![V::text("second")]));
        assert_eq!(file.ask("ReadLine", []).await, ("Line", vec![V::text("x")]));
        assert_eq!(file.ask("ReadLine", []).await, ("EOF", vec![]));
        file.send("Update", []).await;
        assert_eq!(file.ask("GetPosition", []).await, ("Position", vec![V::Int(15)]));
        assert_eq!(fs::read(path.join("a")).unwrap(), b"first\nsecond\r\nx");
        file.send("Close", []).await;
        // A new communication begins.
        assert_eq!(file.ask("Open", [name(&path, "a")]).await.0, "Done");
        assert_eq!(file.ask("ReadLine", []).await, ("Line", vec![V::text("first")]));
        file.send("Close", []).await;
        assert_eq!(file.ask("Open", [name(&path, "missing")]).await.0, "Failed");
        assert_eq!(file.ask("Open", [name(&path, "")]).await.0, "Failed");
        assert_eq!(file.ask("New", [name(&path, "no/such/directory")]).await.0, "Failed");
        assert_eq!(file.ask("New", [V::text("x".repeat(10_000_000))]).await.0, "Failed");
    });
    assert_eq!(status, 0);
}

#[test]
fn close_brings_everything_to_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_path_buf();
    let status = run(&["FileSystem"], Options::default(), move |client| async move {
        let file = client.required("FileSystem");
        file.ask("New", [name(&path, "big")]).await;
        for i in 0..10_000 {
            file.send("WriteText", [V::text(format!("line {i}\n"))]).await;
        }
        file.send("Close", []).await;
    });
    assert_eq!(status, 0);
    let text = fs::read_to_string(directory.path().join("big")).unwrap();
    assert_eq!(text.lines().count(), 10_000);
    assert!(text.ends_with("line 9999\n"));
}

#[test]
fn a_write_that_fails_ends_the_program() {
    let status = run(&["FileSystem"], Options::default(), move |client| async move {
        let file = client.required("FileSystem");
        assert_eq!(file.ask("New", [V::text("/dev/full")]).await.0, "Done");
        file.send("WriteText", [V::text("x")]).await;
        file.send("Close", []).await;
        client.sleep(60_000).await;
    });
    assert_eq!(status, 1);
}

#[test]
fn what_comes_with_a_program_is_found_beside_its_source() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("data-of-the-program"), "here\n").unwrap();
    let options = Options { source_directory: Some(directory.path().to_path_buf()), ..Options::default() };
    let status = run(&["FileSystem"], options, move |client| async move {
        let file = client.required("FileSystem");
        assert_eq!(file.ask("Open", [V::text("data-of-the-program")]).await.0, "Done");
        assert_eq!(file.ask("ReadLine", []).await, ("Line", vec![V::text("here")]));
        file.send("Close", []).await;
    });
    assert_eq!(status, 0);
}

#[test]
fn blocks_stand_at_any_position() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_path_buf();
    let status = run(&["Files"], Options::default(), move |client| async move {
        let files = client.required("Files");
        assert_eq!(files.ask("Open", [name(&path, "a"), V::text("r")]).await.0, "Failed");
        assert_eq!(files.ask("Open", [name(&path, "a"), V::text("?")]).await.0, "Failed");
        let held = files.ask_component("Open", [name(&path, "a"), V::text("x")]).await;
        assert_eq!(files.ask("Open", [name(&path, "a"), V::text("x")]).await.0, "Failed");
        let blocks = client.held(held, "Blocks");
        assert_eq!(blocks.ask("GetLength", []).await, ("Length", vec![V::Int(0)]));
        assert_eq!(blocks.ask("WriteBlock", [V::Int(4), V::text("ab\0cd")]).await, ("Written", vec![]));
        assert_eq!(
            blocks.ask("ReadBlock", [V::Int(3), V::Int(100)]).await,
            ("Block", vec![V::text("\0ab\0cd")])
        );
        assert_eq!(blocks.ask("ReadBlock", [V::Int(5), V::Int(2)]).await, ("Block", vec![V::text("b\0")]));
        assert_eq!(
            blocks.ask("ReadBlock", [V::Int(9), V::Int(i64::MAX)]).await,
            ("Block", vec![V::text("")])
        );
        assert_eq!(blocks.ask("ReadBlock", [V::Int(-1), V::Int(1)]).await.0, "Failed");
        assert_eq!(blocks.ask("SetLength", [V::Int(6)]).await, ("Done", vec![]));
        assert_eq!(blocks.ask("Update", []).await, ("Done", vec![]));
        assert_eq!(blocks.ask("GetLength", []).await, ("Length", vec![V::Int(6)]));
        client.delete(held).await;

        let read_only = files.ask_component("Open", [name(&path, "a"), V::text("r")]).await;
        let answer = client.held(read_only, "Blocks").ask("WriteBlock", [V::Int(0), V::text("x")]).await;
        let reason = V::text("The file was opened to be read only");
        assert_eq!(answer, ("Failed", vec![reason.clone()]));
        let answer = client.held(read_only, "Blocks").ask("SetLength", [V::Int(0)]).await;
        assert_eq!(answer, ("Failed", vec![reason]));
        client.delete(read_only).await;
    });
    assert_eq!(status, 0);
}

#[test]
fn a_name_with_a_zero_is_no_other_file_s() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a"), "kept").unwrap();
    let path = directory.path().to_path_buf();
    let status = run(&["Files", "FileSystem"], Options::default(), move |client| async move {
        let (files, file) = (client.required("Files"), client.required("FileSystem"));
        let failed = ("Failed", vec![V::text("No file name has a character 0X")]);
        for mode in ["r", "rw", "w", "x"] {
            assert_eq!(files.ask("Open", [name(&path, "a\0b"), V::text(mode)]).await, failed);
        }
        assert_eq!(files.ask("Delete", [name(&path, "a\0")]).await, failed);
        assert_eq!(files.ask("Rename", [name(&path, "a\0"), name(&path, "c")]).await, failed);
        assert_eq!(files.ask("Rename", [name(&path, "a"), name(&path, "c\0d")]).await, failed);
        assert_eq!(files.ask("List", [name(&path, "\0")]).await, failed);
        assert_eq!(file.ask("New", [name(&path, "a\0")]).await.0, "Failed");
        assert_eq!(file.ask("Open", [name(&path, "a\0b")]).await.0, "Failed");
    });
    assert_eq!(status, 0);
    assert_eq!(fs::read(directory.path().join("a")).unwrap(), b"kept");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn directories_are_listed_in_order() {
    let directory = tempfile::tempdir().unwrap();
    for file in ["b", "a", "c"] {
        fs::write(directory.path().join(file), "").unwrap();
    }
    let path = directory.path().to_path_buf();
    let status = run(&["Files"], Options::default(), move |client| async move {
        let files = client.required("Files");
        assert_eq!(files.ask("Rename", [name(&path, "c"), name(&path, "d")]).await, ("Done", vec![]));
        assert_eq!(files.ask("Delete", [name(&path, "a")]).await, ("Done", vec![]));
        let missing = files.ask("Delete", [name(&path, "a")]).await;
        assert_eq!(missing, ("Failed", vec![V::text("No such file or directory")]));
        assert_eq!(files.ask("List", [name(&path, "")]).await.0, "Done");
        let mut entries = Vec::new();
        while let Some(("Entry", mut values)) = files.receive().await {
            entries.push(values.remove(0));
        }
        assert_eq!(entries, [V::text("b"), V::text("d")]);
        assert_eq!(files.ask("List", [name(&path, "b")]).await.0, "Failed");
    });
    assert_eq!(status, 0);
}

#[test]
fn arguments_and_time_are_given() {
    let options = Options { arguments: vec![b"one".to_vec(), b"".to_vec()], ..Options::default() };
    let status = run(&["Arguments", "SystemTime"], options, move |client| async move {
        let arguments = client.required("Arguments");
        assert_eq!(arguments.ask("GetArguments", []).await, ("Argument", vec![V::text("one")]));
        assert_eq!(arguments.receive().await, Some(("Argument", vec![V::text("")])));
        assert_eq!(arguments.receive().await, Some(("End", vec![])));
        let time = client.required("SystemTime");
        let (_, before) = time.ask("GetSystemTime", []).await;
        client.sleep(30).await;
        let (_, after) = time.ask("GetSystemTime", []).await;
        let ([V::Int(before), ..], [V::Int(after), ..]) = (&before[..], &after[..]) else { panic!() };
        assert!((30..1000).contains(&(after - before)), "{before} {after}");
        assert!(*before > 1_700_000_000_000);
    });
    assert_eq!(status, 0);
}

#[test]
fn the_picture_is_saved() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out.png");
    let options = Options { graphics: Some(path.clone()), ..Options::default() };
    let status = run(&["GraphicView"], options, move |client| async move {
        let view = client.required("GraphicView");
        let size = view.ask("GetSize", []).await;
        assert_eq!(size, ("Size", vec![V::Int(640), V::Int(480), V::Int(0xFFFFFF)]));
        view.send("Fill", [1, 2, 3, 4, 0xFF0000].map(V::Int)).await;
        view.send("Font", [V::Int(0), V::Int(0), V::Byte(b'A'), V::Int(0)]).await;
        view.send("DrawLayers", []).await;
    });
    assert_eq!(status, 0);
    assert!(fs::read(path).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn the_system_offers_what_the_language_says() {
    let (program, offered) = drystone_language::check::system();
    let names: Vec<_> = offered.iter().map(|id| program.interfaces[id.index()].name.as_str()).collect();
    assert_eq!(run(&names, Options::default(), |_| async {}), 0);
}
