//! Packages: crates with source files that a project depends on.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::projects::{folder_of, write};
use crate::with::alone;
use crate::{DRYSTONE, complaint, printed, programs, status};

/// The manifest of a crate that depends on crates in the folders beside it.
fn manifest(name: &str, dependencies: &[&str]) -> String {
    let dependencies =
        dependencies.iter().map(|it| format!("{it} = {{ path = \"../{it}\", version = \"1\" }}\n"));
    let dependencies: String = dependencies.collect();
    format!(
        "[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n[dependencies]\n{dependencies}"
    )
}

/// Likewise of a project.
fn project(dependencies: &[&str]) -> String {
    manifest("p", dependencies).replace("[dependencies]", "[package.metadata.drystone]\n[dependencies]")
}

/// The program of a project: it prints a text that a package makes.
const MAIN: &str = "IMPORT Words; COMPONENT Main; BEGIN WRITE(Words.Twice(\"ha\")); WRITELINE END Main;\n";

const WORDS: &str =
    "IMPORT Letters; PROCEDURE Twice(t: TEXT): TEXT; BEGIN RETURN t + Letters.Dash + t END Twice;\n";

const LETTERS: &str = "CONSTANT Dash = \"-\";\n";

/// What `drystone new` proposes.
const HINT: &str = "Try `drystone run` and `drystone test` there.";

/// A project in `p` that depends on `words`, which depends on `letters`.
fn folder() -> TempDir {
    folder_of(&[
        ("p/Cargo.toml", &project(&["words"])),
        ("p/src/lib.rs", ""),
        ("p/main.dry", MAIN),
        ("words/Cargo.toml", &manifest("words", &["letters"])),
        ("words/src/lib.rs", ""),
        ("words/Words.dry", WORDS),
        ("letters/Cargo.toml", &manifest("letters", &[])),
        ("letters/src/lib.rs", ""),
        ("letters/letters.dry", LETTERS),
    ])
}

/// The command without a network, and with a home of Cargo of its own.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(DRYSTONE);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env("CARGO_NET_OFFLINE", "true").env("CARGO_HOME", home(folder));
    command
}

/// A folder for Cargo beside a project.
fn home(folder: &Path) -> PathBuf {
    folder.parent().expect("projects lie in a folder").join("cargo")
}

fn offline(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("the command runs")
}

fn cargo(folder: &Path, arguments: &[&str]) -> Output {
    let mut cargo = Command::new("cargo");
    cargo
        .args(arguments)
        .current_dir(folder)
        .env("CARGO_HOME", home(folder))
        .env("CARGO_NET_OFFLINE", "true");
    cargo.env_remove("CARGO_TARGET_DIR").output().expect("Cargo runs")
}

#[track_caller]
fn prints(output: &Output, expected: &str) {
    assert_eq!((printed(output).as_str(), status(output)), (expected, 0), "{}", complaint(output));
}

#[test]
fn a_package_in_a_folder_is_imported_from_and_imports_from_its_own() {
    let folder = folder();
    let p = folder.path().join("p");
    let test = "IMPORT Words; COMPONENT Main; BEGIN ASSERT(Words.Twice(\"x\") = \"x-x\") END Main;";
    write(&p, &[("tests/WordsTest.dry", test)]);
    prints(&offline(&p, &["run"]), "ha-ha\n");
    prints(&offline(&p.join("tests"), &["run"]), "ha-ha\n");
    prints(&offline(folder.path(), &["run", "p/main.dry"]), "ha-ha\n");
    let absolute = p.join("main.dry");
    prints(&offline(&p.join("src"), &["run", absolute.to_str().expect("a plain path")]), "ha-ha\n");
    prints(&offline(&p, &["check"]), "");
    let tested = offline(&p, &["test"]);
    assert!(printed(&tested).contains("\n1 passed, 0 failed ("), "{}", printed(&tested));
    prints(&offline(&p, &["build"]), "");
    prints(&Command::new(p.join("p")).output().expect("it was built"), "ha-ha\n");
    assert!(p.join("Cargo.lock").exists());
}

#[test]
fn what_a_package_needs_is_not_seen_by_its_users() {
    let folder = folder();
    let p = folder.path().join("p");
    write(&p, &[("main.dry", "IMPORT Letters; COMPONENT Main; BEGIN WRITE(Letters.Dash) END Main;")]);
    let output = offline(&p, &["run"]);
    assert_eq!(status(&output), 2);
    let said = complaint(&output);
    assert!(said.contains("Letters is not found") && said.contains("package that p depends on"), "{said}");
    write(&p, &[("Cargo.toml", &project(&["words", "letters"]))]);
    prints(&offline(&p, &["run"]), "-");
}

#[test]
fn errors_in_a_package_are_shown_where_they_are() {
    let folder = folder();
    let p = folder.path().join("p");
    write(folder.path(), &[("letters/letters.dry", "CONSTANT Dash = 1 + \"-\";")]);
    let output = offline(&p, &["check"]);
    assert_eq!(status(&output), 2);
    assert!(complaint(&output).contains("../letters/letters.dry:1:17: error: "), "{}", complaint(&output));
}

#[test]
fn two_packages_with_a_file_of_one_name_are_both_named() {
    let folder = folder();
    let p = folder.path().join("p");
    write(&p, &[("Cargo.toml", &project(&["words", "letters"]))]);
    write(folder.path(), &[("letters/words.dry", "")]);
    let output = offline(&p, &["run"]);
    assert_eq!(status(&output), 2);
    let expected =
        "Words is in several packages: letters (../letters/words.dry) and words (../words/Words.dry)";
    assert!(complaint(&output).contains(expected), "{}", complaint(&output));
    // A file of the project's own is nearer than those of packages.
    write(&p, &[("Words.dry", "PROCEDURE Twice(t: TEXT): TEXT; BEGIN RETURN t END Twice;")]);
    prints(&offline(&p, &["run"]), "ha\n");
}

#[test]
fn a_package_says_in_which_folder_its_files_are() {
    let folder = folder();
    let p = folder.path().join("p");
    let words = manifest("words", &["letters"]);
    let words =
        words.replace("[dependencies]", "[package.metadata.drystone]\nfiles = \"./dry\"\n[dependencies]");
    fs::remove_file(folder.path().join("words/Words.dry")).expect("it was there");
    write(folder.path(), &[("words/Cargo.toml", &words), ("words/dry/words.dry", WORDS)]);
    prints(&offline(&p, &["run"]), "ha-ha\n");
    // Its tests import them, too.
    let test = "IMPORT Words; COMPONENT Main; BEGIN ASSERT(Words.Twice(\"x\") = \"x-x\") END Main;";
    write(folder.path(), &[("words/tests/one.dry", test)]);
    let tested = offline(&folder.path().join("words"), &["test"]);
    assert!(printed(&tested).contains("\n1 passed, 0 failed ("), "{}", printed(&tested));
}

#[test]
fn packages_lie_in_folders_of_any_name_also_within_the_project() {
    let folder = folder();
    let (from, to) = (folder.path().join("words"), folder.path().join("p/it's a \"ü\" folder"));
    fs::rename(from, &to).expect("it can be moved");
    let words = manifest("words", &["letters"]).replace("../letters", "../../letters");
    write(&to, &[("Cargo.toml", &words)]);
    let p = folder.path().join("p");
    let manifest = project(&["words"]).replace("\"../words\"", r#""it's a \"ü\" folder""#);
    write(&p, &[("Cargo.toml", &manifest)]);
    prints(&offline(&p, &["run"]), "ha-ha\n");
}

#[test]
fn what_cargo_cannot_find_is_said_by_it() {
    let folder = folder();
    let p = folder.path().join("p");
    for (dependencies, expected) in [
        (&["words", "nothing"][..], "/nothing/Cargo.toml"),
        (&["letters", "cyclic"], "cyclic package dependency"),
    ] {
        write(&p, &[("Cargo.toml", &project(dependencies))]);
        write(
            folder.path(),
            &[("cyclic/Cargo.toml", &manifest("cyclic", &["p"])), ("cyclic/src/lib.rs", "")],
        );
        for arguments in [&["run"][..], &["check"], &["test"], &["build"]] {
            let output = offline(&p, arguments);
            // A test is a run of its own.
            let said = complaint(&output) + &printed(&output);
            assert_ne!(status(&output), 0);
            if arguments == ["test"] {
                continue;
            }
            assert!(said.starts_with("error: ") && said.contains(expected), "{said}");
        }
    }
    write(
        &p,
        &[("Cargo.toml", &project(&[]).replace("[dependencies]\n", "[dependencies]\nwords = \"1\"\n"))],
    );
    let output = offline(&p, &["run"]);
    assert_eq!(status(&output), 1);
    assert!(complaint(&output).contains("words"), "{}", complaint(&output));
}

#[test]
fn cargo_is_needed_for_packages_only() {
    let folder = folder();
    let p = folder.path().join("p");
    let output = command(&p, &["run"]).env("PATH", "/nowhere").output().expect("the command runs");
    assert_eq!(status(&output), 1);
    let expected = "error: a project that depends on packages needs cargo, which was not found";
    assert!(complaint(&output).starts_with(expected), "{}", complaint(&output));
    write(&p, &[("Cargo.toml", &project(&[])), ("main.dry", "COMPONENT Main; BEGIN WRITE(1) END Main;")]);
    prints(&command(&p, &["run"]).env("PATH", "/nowhere").output().expect("the command runs"), "1");
}

#[test]
fn packages_are_added_and_removed() {
    let folder = folder();
    let p = folder.path().join("p");
    write(&p, &[("Cargo.toml", &project(&[]))]);
    write(folder.path(), &[("rust/Cargo.toml", &manifest("rust", &[])), ("rust/src/lib.rs", "")]);
    let added = offline(&p.join("src"), &["add", "--path", "../../words"]);
    prints(&added, "");
    assert!(complaint(&added).contains("Adding words"), "{}", complaint(&added));
    assert!(!complaint(&added).contains("warning"), "{}", complaint(&added));
    prints(&offline(&p, &["run"]), "ha-ha\n");
    let useless = offline(&p, &["add", "rust", "--path", "../rust"]);
    prints(&useless, "");
    let said = complaint(&useless);
    assert!(
        said.contains("warning: rust has no source files (.dry) in ") && !said.contains("words has"),
        "{said}"
    );
    for (arguments, expected) in [
        (&["remove", "nothing"][..], "nothing"),
        (&["add", "--path", "../nothing"], "nothing"),
        (&["add", "words", "--path", "../rust"], "words"),
    ] {
        let output = offline(&p, arguments);
        assert_eq!(status(&output), 1, "{arguments:?}");
        assert!(complaint(&output).contains(expected), "{}", complaint(&output));
    }
    assert_eq!(status(&offline(&p, &["add"])), 2);
    prints(&offline(&p, &["remove", "words"]), "");
    assert_eq!(status(&offline(&p, &["run"])), 2);
    assert_eq!(status(&offline(folder.path(), &["add", "words"])), 2, "there is no project");
}

/// Makes a folder a Git repository, or gives it one more commit.
fn commit(folder: &Path) {
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "changes"]] {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments).current_dir(folder);
        let output = git.output().expect("git runs");
        assert_eq!(status(&output), 0, "{}", complaint(&output));
    }
}

/// A folder like `folder()`, but `words` is a Git repository that needs nothing, and `p` depends on nothing yet.
fn folder_with_git() -> (TempDir, String) {
    let folder = folder();
    let words = folder.path().join("words");
    let text = "PROCEDURE Twice(t: TEXT): TEXT; BEGIN RETURN t + t END Twice;\n";
    write(&words, &[("Cargo.toml", &manifest("words", &[])), ("Words.dry", text)]);
    commit(&words);
    write(&folder.path().join("p"), &[("Cargo.toml", &project(&[]))]);
    let url = format!("file://{}", words.display());
    (folder, url)
}

#[test]
fn a_package_comes_from_a_git_repository_as_the_lock_file_says() {
    let (folder, url) = folder_with_git();
    let p = folder.path().join("p");
    let added = command(&p, &["add", "--git", &url]).env_remove("CARGO_NET_OFFLINE").output();
    prints(&added.expect("the command runs"), "");
    prints(&offline(&p, &["run"]), "haha\n");
    write(
        folder.path(),
        &[("words/Words.dry", "PROCEDURE Twice(t: TEXT): TEXT; BEGIN RETURN t END Twice;\n")],
    );
    commit(&folder.path().join("words"));
    prints(&offline(&p, &["run"]), "haha\n");
}

/// A Cargo that builds nothing.
const IDLE_CARGO: &str = "#!/bin/sh
if [ \"$1\" = build ]; then echo 'nothing is built' >&2; exit 101; fi
exec \"$REAL_CARGO\" \"$@\"
";

/// What Cargo is asked to build for a project with a crate of its own: that crate, in the versions of its lock file.
#[test]
fn the_projects_own_rust_is_built_in_with_the_versions_of_its_lock_file() {
    let (folder, url) = folder_with_git();
    let p = folder.path().join("p");
    let kortex = repository().join("kortex");
    let needs =
        format!("{}words = {{ git = {url:?} }}\ndrystone-kortex = {{ path = {kortex:?} }}\n", project(&[]));
    write(
        &p,
        &[
            ("Cargo.toml", &needs),
            ("Cargo.lock", &fs::read_to_string(repository().join("Cargo.lock")).expect("it is there")),
            (
                "src/lib.rs",
                "pub static DRYSTONE: drystone_kortex::Addition = drystone_kortex::Addition::NOTHING;",
            ),
            ("main.dry", "COMPONENT Main; BEGIN WRITE(1) END Main;"),
        ],
    );
    // What the repository's crates need has been fetched; what a test fetches lies elsewhere.
    let fetched = env::var_os("CARGO_HOME").map(PathBuf::from);
    let fetched =
        fetched.unwrap_or_else(|| Path::new(&env::var_os("HOME").expect("there is one")).join(".cargo"));
    fs::create_dir(home(&p)).expect("it is new");
    symlink(fetched.join("registry"), home(&p).join("registry")).expect("links can be made");
    let idle = folder.path().join("bin");
    write(&idle, &[("cargo", IDLE_CARGO)]);
    fs::set_permissions(idle.join("cargo"), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = format!("{}:{}", idle.display(), env::var("PATH").expect("there is one"));
    let mut command = command(&p, &["run"]);
    command.env_remove("CARGO_NET_OFFLINE").env_remove("CARGO_TARGET_DIR").env("PATH", path);
    let output = command.env("REAL_CARGO", env!("CARGO")).output().expect("the command runs");
    assert_eq!(status(&output), 1);
    assert!(complaint(&output).ends_with("nothing is built\n"), "{}", complaint(&output));
    let made = p.join("target/drystone/drystone-start-p");
    let [manifest, lock, code] = ["Cargo.toml", "Cargo.lock", "src/lib.rs"]
        .map(|file| fs::read_to_string(made.join(file)).expect("written"));
    let p = p.canonicalize().expect("it is there");
    assert!(manifest.contains(&format!("\np = {{ path = {p:?} }}\n")), "{manifest}");
    assert!(code.contains("&[&p::DRYSTONE]"), "{code}");
    assert!(lock.contains(&format!("source = \"git+{url}#")), "{lock}");
    let mut entries: Vec<_> =
        lock.split("[[package]]\n").skip(1).map(|it| it.lines().take(3).collect::<Vec<_>>()).collect();
    let all = entries.len();
    entries.sort();
    entries.dedup();
    assert!(all == entries.len() && all > 100, "an entry is there twice");
}

/// A registry in a folder, with the given crates of a folder.
fn registry(folder: &Path, crates: &[&str]) {
    let config =
        "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\nlocal-registry = \"registry\"\n";
    write(folder, &[(".cargo/config.toml", config), ("registry/index/config.json", "{}")]);
    for name in crates {
        let output = cargo(&folder.join(name), &["package", "--no-verify", "--allow-dirty"]);
        assert_eq!(status(&output), 0, "{}", complaint(&output));
        let file = format!("{name}-1.0.0.crate");
        let made = folder.join("registry").join(&file);
        fs::copy(folder.join(name).join("target/package").join(&file), &made).expect("it was made");
        let sum = Command::new("sha256sum").arg(&made).output().expect("coreutils are there");
        let sum = printed(&sum).split(' ').next().unwrap_or_default().to_string();
        let needs = match *name {
            "words" => {
                r#"{"name":"letters","req":"^1","features":[],"optional":false,"default_features":true}"#
            }
            _ => "",
        };
        let entry = format!(
            "{{\"name\":\"{name}\",\"vers\":\"1.0.0\",\"deps\":[{needs}],\"cksum\":\"{sum}\",\
             \"features\":{{}},\"yanked\":false}}\n"
        );
        let place = format!("registry/index/{}/{}/{name}", &name[..2], &name[2..4]);
        write(folder, &[(&place, &entry)]);
    }
}

#[test]
fn a_package_comes_from_a_registry() {
    let folder = folder();
    let p = folder.path().join("p");
    write(&p, &[("Cargo.toml", &project(&[]))]);
    registry(folder.path(), &["letters", "words"]);
    let listed = cargo(&folder.path().join("words"), &["package", "--list", "--allow-dirty"]);
    assert!(printed(&listed).lines().any(|file| file == "Words.dry"), "{}", printed(&listed));
    for name in ["words", "letters"] {
        fs::remove_dir_all(folder.path().join(name)).expect("it was there");
    }
    prints(&offline(&p, &["add", "words"]), "");
    prints(&offline(&p, &["run"]), "ha-ha\n");
    let lock = fs::read_to_string(p.join("Cargo.lock")).expect("it was written");
    assert!(lock.contains("name = \"letters\"") && lock.contains("checksum = "), "{lock}");
    let unknown = offline(&p, &["add", "unknown"]);
    assert_eq!(status(&unknown), 1);
    assert!(complaint(&unknown).contains("unknown"), "{}", complaint(&unknown));
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a folder").to_path_buf()
}

/// The repository, whose `systems/words` has procedures in Rust, and a package that uses these.
fn with_rust() -> (TempDir, PathBuf) {
    let repository = repository();
    let words = format!("words = {{ path = \"{}\" }}\n", repository.join("systems/words").display());
    let folder = folder_of(&[
        ("p/Cargo.toml", &project(&["counting"])),
        ("p/src/lib.rs", ""),
        (
            "p/main.dry",
            "IMPORT Counting; COMPONENT Main; BEGIN WRITE(Counting.Sounds(\"stone wall\")) END Main;",
        ),
        (
            "p/tests/one.dry",
            "IMPORT Counting; COMPONENT Main; BEGIN ASSERT(Counting.Sounds(\"a\") = 1) END Main;",
        ),
        ("counting/Cargo.toml", &(manifest("counting", &[]) + &words)),
        ("counting/src/lib.rs", ""),
        (
            "counting/counting.dry",
            "IMPORT Sounds;
            PROCEDURE Sounds(t: TEXT): INTEGER; BEGIN RETURN Sounds.Vowels(t) END Sounds;",
        ),
    ]);
    // The versions that the repository is compiled with.
    let lock = fs::read_to_string(repository.join("Cargo.lock")).expect("it is there");
    write(folder.path(), &[("p/Cargo.lock", &lock)]);
    (folder, repository.join("target"))
}

#[test]
fn what_packages_have_in_rust_is_built_in() {
    let (folder, target) = with_rust();
    let p = folder.path().join("p");
    let _alone = alone();
    let run = |arguments: &[&str]| {
        let mut command = command(&p, arguments);
        command.env_remove("CARGO_HOME").env("CARGO_TARGET_DIR", &target).output().expect("the command runs")
    };
    prints(&run(&["check"]), "");
    prints(&run(&["run"]), "3");
    let tested = run(&["test"]);
    assert!(printed(&tested).contains("\n1 passed, 0 failed ("), "{}", printed(&tested));
    prints(&run(&["build", "-o", "made"]), "");
    prints(&Command::new(p.join("made")).output().expect("it was built"), "3");
}

/// The chapter "Projects and packages", as its reader does it.
#[test]
fn the_chapters_steps_lead_where_it_says() {
    let folder = folder_of(&[]);
    let own = |name: &str| fs::read_to_string(programs().join("packages").join(name)).expect("it is there");
    let [roman, years] = ["roman", "years"].map(|name| {
        prints(&offline(folder.path(), &["new", name]), &format!("Made {name}. {HINT}\n"));
        folder.path().join(name)
    });
    for file in ["main.dry", "Bar.dry", "tests/BarTest.dry", "tests/BarTest.expected"] {
        fs::remove_file(roman.join(file)).expect("the project has it");
    }
    write(&roman, &[("Roman.dry", &own("Roman.dry")), ("tests/RomanTest.dry", &own("RomanTest.dry"))]);
    let tested = offline(&roman, &["test"]);
    assert!(printed(&tested).contains("\n1 passed, 0 failed ("), "{}", printed(&tested));
    prints(&offline(&years, &["add", "--path", "../roman"]), "");
    write(&years, &[("main.dry", &own("Years.dry"))]);
    let printed = own("Years.expected");
    prints(&offline(&years, &["run"]), &printed);
    let chapter = programs().join("../docs/src/packages.md");
    let chapter = fs::read_to_string(chapter).expect("it is there");
    let shown: String = printed.lines().map(|line| format!("    {line}\n")).collect();
    assert!(chapter.contains(&format!("    drystone run\n{shown}")));
    let manifest =
        fs::read_to_string(roman.join("Cargo.toml")).expect("it was made").replace("roman", "years");
    let said = manifest.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    assert!(said.into_iter().all(|line| chapter.contains(line)), "{manifest}");
}
