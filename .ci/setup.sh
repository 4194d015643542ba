# What ./run and ./test need on a fresh Debian or Ubuntu, a C compiler and Rust: sourced by both, with `root` set.
# Only what is missing is installed.

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' plain=$'\e[0m'; else bold='' plain=''; fi

say() { printf '%s%s%s\n' "$bold" "$*" "$plain"; }
die() { printf '%serror:%s %s\n' "$bold" "$plain" "$*" >&2; exit 1; }
have() { command -v "$1" > /dev/null 2>&1; }

export HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin:/usr/local/cargo/bin
# A HOME that is new, as some machines for tests give one, is no reason to install Rust again.
if have rustup && [ -z "${RUSTUP_HOME:-}" ] && [ ! -d "$HOME/.rustup" ]; then
    beside=$(dirname "$(command -v rustup)")/../../.rustup
    if [ -d "$beside" ]; then RUSTUP_HOME=$(cd "$beside" && pwd) && export RUSTUP_HOME; fi
fi

# Installs packages of the distribution.
packages() {
    local root_by=()
    if [ "$(id -u)" != 0 ]; then
        have sudo || die "as root, install: $*"
        root_by=(sudo)
    fi
    have apt-get || die "this is neither Debian nor Ubuntu: install $* (or what they are called here) and try again"
    say "Installing $*"
    "${root_by[@]}" apt-get update -qq || true  # what is known already may do
    "${root_by[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" < /dev/null \
        || die "could not install $*: see above"
}

# The compiler that rust-toolchain.toml asks for, with what else is listed there.
rust() {
    local wanted
    wanted=$(sed -n 's/^channel = "\(.*\)"/\1/p' "$root/rust-toolchain.toml")
    if ! have cargo && ! have rustup; then
        have curl || packages curl ca-certificates
        say "Installing Rust $wanted (rustup, https://rustup.rs)"
        local script
        script=$(curl --proto '=https' --tlsv1.2 -sSf --retry 3 https://sh.rustup.rs) \
            && sh -s -- -y -q --no-modify-path --profile minimal --default-toolchain none <<< "$script" \
            || die "rustup could not be had from https://sh.rustup.rs. Install Rust $wanted or newer in another way" \
                "(https://rustup.rs lists them), so that cargo is in the PATH, and try again"
    fi
    if have rustup; then
        if ! rustup run "$wanted" cargo --version > /dev/null 2>&1; then
            say "Installing Rust $wanted"
            rustup toolchain install "$wanted" --profile minimal --no-self-update \
                || die "Rust $wanted could not be had from ${RUSTUP_DIST_SERVER:-https://static.rust-lang.org}." \
                    "Set RUSTUP_DIST_SERVER to a mirror that this machine can reach and try again"
        fi
    elif ! (cd "$root" && cargo metadata --no-deps --format-version 1 > /dev/null 2>&1); then
        die "$(cargo --version) is too old: Rust $wanted or newer is needed, for instance from https://rustup.rs"
    fi
}

have cc || packages gcc libc6-dev
rust
# As Cargo understands it, which is started in the root.
target=$(cd "$root" && realpath -m "${CARGO_TARGET_DIR:-target}")
if [ -n "${CARGO_TARGET_DIR:-}" ]; then export CARGO_TARGET_DIR=$target; fi
