//! An example of a crate that is built into a program by `drystone build --with systems/words`. It adds
//!
//! * components of its own ([`lexicon_component`], [`letters_component`], [`readers_component`], [`index_component`],
//!   [`echo_component`]),
//! * the naming context `words:` ([`context`]),
//! * the binding factory `Limited` ([`limited`]),
//! * procedures ([`sounds`]).
//!
//! It needs no standard library, so that programs on machines without an operating system have it, too.
//! `interfaces.dry` declares the interfaces, and `build.rs` makes Rust's side of them. `Sounds.dry` declares the
//! procedures.

#![no_std]
#![warn(missing_docs)]

extern crate alloc;

pub mod context;
pub mod echo_component;
pub mod index_component;
pub mod interfaces;
pub mod letters_component;
pub mod lexicon_component;
pub mod limited;
pub mod readers_component;
pub mod sounds;

use drystone_kortex::{Addition, Before, Context, Offer};
use drystone_runtime::procedure;

use interfaces::{echo, echoes, index, letters, lexicon, readers};

/// What `--with` builds in.
pub static DRYSTONE: Addition = Addition {
    offers: &[
        Offer { declaration: &lexicon::DECLARATION, begin: lexicon_component::begin },
        Offer { declaration: &letters::DECLARATION, begin: letters_component::begin },
        Offer { declaration: &readers::DECLARATION, begin: readers_component::begin },
        Offer { declaration: &index::DECLARATION, begin: index_component::begin },
        Offer { declaration: &echo::DECLARATION, begin: echo_component::begin },
        Offer { declaration: &echoes::DECLARATION, begin: echo_component::begin_echoes },
    ],
    contexts: &[Context { scheme: "words", begin: context::begin }],
    factories: &[Before { name: "Limited", put: limited::put }],
    procedures: &[
        procedure!(Sounds.Vowels(TEXT): INTEGER = sounds::vowels),
        procedure!(Sounds.Rhyme(TEXT, TEXT, VARIABLE TEXT): BOOLEAN = sounds::rhyme),
        procedure!(Sounds.Letter(TEXT, INTEGER): CHARACTER = sounds::letter),
    ],
};
