use crate::{complaint, drystone, folder_with, printed, status};

#[test]
fn a_sound_program_is_passed_over_in_silence() {
    let folder = folder_with("COMPONENT A; BEGIN WRITE(1) END A;");
    let output = drystone(folder.path(), &["check", "program.dry"]);
    assert_eq!((printed(&output), complaint(&output), status(&output)), (String::new(), String::new(), 0));
}

#[test]
fn all_errors_are_shown_with_their_places() {
    let folder = folder_with("COMPONENT A;\nBEGIN\n  WRITE(x);\n  WRITE(y)\nEND A;");
    let output = drystone(folder.path(), &["check", "program.dry"]);
    assert_eq!(status(&output), 2);
    let complaint = complaint(&output);
    for part in ["program.dry:3:9: error: ", "WRITE(x)", "program.dry:4:9: error: ", "WRITE(y)"] {
        assert!(complaint.contains(part), "{complaint}");
    }
    assert!(!complaint.contains('\x1b'), "no colours unless for a terminal");
}
