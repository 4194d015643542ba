//! Certificates for TLS. Both sides of a connection show theirs.

use std::io;
use std::net::IpAddr;

use drystone_runtime::binding::Hints;

use drystone_net::secure::{Acceptor, Channel, Dialer, Files};

/// The files that a BY names, if it names any.
///
/// # Errors
/// It names some of them only.
pub(super) fn files(hints: &Hints<'_>) -> Result<Option<Files>, String> {
    match Files::of(hints) {
        Ok(Files { identity: None, authority: None }) => Ok(None),
        Ok(files @ Files { identity: Some(_), authority: Some(_) }) => Ok(Some(files)),
        _ => Err("certificate, key and authority go together".to_string()),
    }
}

/// Allows an address without certificates.
///
/// # Errors
/// It is not this machine's own.
pub(super) fn permit(address: IpAddr) -> Result<(), String> {
    match address.to_canonical().is_loopback() {
        true => Ok(()),
        false => {
            Err("without certificates only this machine's own addresses (127.0.0.1, localhost) can be used: \
                      give them by BY Tcp(certificate: file, key: file, authority: file)"
                .to_string())
        }
    }
}

/// This program's certificate, and the authority that it trusts.
pub(super) struct Credentials {
    dialer: Dialer,
    acceptor: Acceptor,
}

impl Credentials {
    /// Reads the files, in PEM.
    ///
    /// # Errors
    /// One can't be read, or has the wrong content.
    pub(super) fn read(files: &Files) -> Result<Credentials, String> {
        let acceptor = Acceptor::read(files, &[])?.ok_or("a certificate is needed")?;
        Ok(Credentials { dialer: Dialer::read(files, &[])?, acceptor })
    }

    /// The channel of a connection to a host, which must have a certificate for that name or address.
    ///
    /// # Errors
    /// The name can't stand in a certificate.
    pub(super) fn dial(&self, host: &str) -> Result<Channel, String> {
        self.dialer.dial(host)
    }

    /// The channel of an accepted connection, whose other end must have a certificate.
    ///
    /// # Errors
    /// The configuration can't be used; none such is known.
    pub(super) fn accept(&self) -> io::Result<Channel> {
        self.acceptor.accept()
    }
}
