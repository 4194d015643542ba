use std::fs;

use crate::{all_programs, complaint, drystone, folder_with, printed, status};

#[test]
fn files_are_laid_out_in_place() {
    let folder = folder_with("COMPONENT A;BEGIN WRITE( 1 )\n\n\nEND A;");
    let output = drystone(folder.path(), &["fmt", "--check", "program.dry"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("program.dry\n", 1));
    let output = drystone(folder.path(), &["fmt", "program.dry"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("", 0));
    let text = fs::read_to_string(folder.path().join("program.dry")).expect("it is there");
    assert!(text.contains("\n  WRITE(1)\n"), "{text}");
    assert_eq!(status(&drystone(folder.path(), &["fmt", "--check", "program.dry"])), 0);
}

#[test]
fn what_is_laid_out_stays_as_it_is() {
    for program in all_programs() {
        let folder = folder_with(&fs::read_to_string(&program).expect("it can be read"));
        for beside in fs::read_dir(program.parent().expect("a program is in a folder")).expect("it is there")
        {
            let path = beside.expect("it can be read").path();
            if path.extension().is_some_and(|extension| extension == "dry") {
                let copy = folder.path().join(path.file_name().expect("a file has a name"));
                fs::copy(path, copy).expect("it can be copied");
            }
        }
        let output = drystone(folder.path(), &["fmt", "program.dry"]);
        assert_eq!((complaint(&output).as_str(), status(&output)), ("", 0));
        let output = drystone(folder.path(), &["fmt", "--check", "program.dry"]);
        assert_eq!((printed(&output).as_str(), status(&output)), ("", 0), "{}", program.display());
        assert_eq!(status(&drystone(folder.path(), &["check", "program.dry"])), 0);
    }
}

#[test]
fn a_file_with_errors_is_left_alone() {
    let folder = folder_with("COMPONENT A;;BEGIN ( END A;");
    fs::write(folder.path().join("good.dry"), "COMPONENT B;END B;").expect("written");
    let output = drystone(folder.path(), &["fmt", "program.dry", "good.dry"]);
    assert_eq!(status(&output), 2);
    assert!(complaint(&output).starts_with("program.dry:1:"), "{}", complaint(&output));
    let [bad, good] = ["program.dry", "good.dry"].map(|name| fs::read_to_string(folder.path().join(name)));
    assert_eq!(bad.expect("it is there"), "COMPONENT A;;BEGIN ( END A;");
    assert_eq!(good.expect("it is there"), "COMPONENT B;\nEND B;\n");
}

#[test]
fn the_projects_own_programs_are_laid_out() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder of the repository");
    let folders = [
        "programs",
        "programs/lessons",
        "programs/library",
        "programs/packages",
        "bench/programs",
        "bench/kernels",
        "drystone/src/new",
        "drystone/src/new/tests",
    ];
    let mut files = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder with programs");
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "dry"));
    let mut arguments = vec!["fmt", "--check"];
    arguments.extend(files.iter().map(|path| path.to_str().expect("names are text")));
    let output = drystone(root, &arguments);
    assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stdout));
}
