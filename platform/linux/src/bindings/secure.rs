//! TLS 1.3: the files that `BY` names for it, and what is said over a connection. Who this program is, says its
//! certificate; whom it believes, says the authority, whose signature a good certificate has.

use std::fmt::Display;
use std::io::{self, Read, Write};
use std::sync::Arc;

use drystone_runtime::binding::Hints;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection, crypto,
    version,
};

use crate::reason::reason;

/// The files that BY names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Files {
    /// This program's certificate, and its key.
    pub(super) identity: Option<(String, String)>,
    /// The certificates of those whose signature is good.
    pub(super) authority: Option<String>,
}

impl Files {
    /// Which of them a BY names.
    ///
    /// # Errors
    /// A certificate without its key, or a key without its certificate.
    pub(super) fn of(hints: &Hints<'_>) -> Result<Files, String> {
        let file = |option| hints.option(option).map(|file| String::from_utf8_lossy(file).into_owned());
        let identity = match (file("certificate"), file("key")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("certificate and key go together".to_string()),
        };
        Ok(Files { identity, authority: file("authority") })
    }

    /// Looks whether they can be used, for who reads them elsewhere.
    ///
    /// # Errors
    /// One is not there, or is none such.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some((certificate, key)) = &self.identity {
            certificates("certificate", certificate)?;
            private(key)?;
        }
        self.authority.iter().try_for_each(|file| certificates("authority", file).map(drop))
    }

    /// The authority's certificates; without one, those that the system trusts.
    fn roots(&self) -> Result<Arc<RootCertStore>, String> {
        let mut roots = RootCertStore::empty();
        match &self.authority {
            Some(authority) => {
                for root in certificates("authority", authority)? {
                    roots.add(root).map_err(|error| about("authority", authority, error))?;
                }
            }
            None => {
                // One that can't be read signs nothing.
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                if roots.is_empty() {
                    return Err("the system trusts no certificates: name an authority".to_string());
                }
            }
        }
        Ok(Arc::new(roots))
    }
}

/// As whom this program dials, and whom it believes then.
#[derive(Clone)]
pub(super) struct Dialer(Arc<ClientConfig>);

impl Dialer {
    /// Reads the files, in PEM. With `protocols` the two sides agree on one of them.
    ///
    /// # Errors
    /// One is not there, or is none such.
    pub(super) fn read(files: &Files, protocols: &[&[u8]]) -> Result<Dialer, String> {
        let builder = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_protocol_versions(&[&version::TLS13])
            .map_err(|error| error.to_string())?
            .with_root_certificates(files.roots()?);
        let mut config = match &files.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => builder
                .with_client_auth_cert(certificates("certificate", certificate)?, private(key)?)
                .map_err(|error| about("certificate", certificate, error))?,
        };
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(Dialer(Arc::new(config)))
    }

    /// A connection to a host, which must have a certificate for that name or address.
    ///
    /// # Errors
    /// The name can't stand in a certificate.
    pub(super) fn dial(&self, host: &str) -> Result<Channel, String> {
        let host = if host.is_empty() { "localhost" } else { host };
        let name = ServerName::try_from(host.to_string()).map_err(|error| format!("{host}: {error}"))?;
        let connection = ClientConnection::new(self.0.clone(), name).map_err(|error| error.to_string())?;
        Ok(Channel(Box::new(connection.into())))
    }
}

/// As whom this program lets others in. With an authority they must have certificates, too.
#[derive(Clone)]
pub(super) struct Acceptor(Arc<ServerConfig>);

impl Acceptor {
    /// Reads the files, in PEM; `None`: they don't say who this program is. With `protocols` the two sides agree on one
    /// of them.
    ///
    /// # Errors
    /// One is not there, or is none such.
    pub(super) fn read(files: &Files, protocols: &[&[u8]]) -> Result<Option<Acceptor>, String> {
        let Some((certificate, key)) = &files.identity else { return Ok(None) };
        let provider = Arc::new(crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&version::TLS13])
            .map_err(|error| error.to_string())?;
        let builder = match &files.authority {
            None => builder.with_no_client_auth(),
            Some(authority) => builder.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(files.roots()?, provider)
                    .build()
                    .map_err(|error| about("authority", authority, error))?,
            ),
        };
        let mut config = builder
            .with_single_cert(certificates("certificate", certificate)?, private(key)?)
            .map_err(|error| about("certificate", certificate, error))?;
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(Some(Acceptor(Arc::new(config))))
    }

    /// A connection from somebody.
    ///
    /// # Errors
    /// None that is known.
    pub(super) fn accept(&self) -> io::Result<Channel> {
        let connection = ServerConnection::new(self.0.clone()).map_err(io::Error::other)?;
        Ok(Channel(Box::new(connection.into())))
    }
}

/// What a file has that an option of BY names.
fn certificates(option: &str, file: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if certificates.is_empty() => Err(about(option, file, "it has no certificate")),
        read => read.map_err(|error| about(option, file, why(error))),
    }
}

fn private(file: &str) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_file(file).map_err(|error| about("key", file, why(error)))
}

/// Why a file can't be read.
fn why(error: pem::Error) -> String {
    match error {
        pem::Error::Io(error) => reason(&error),
        pem::Error::NoItemsFound => "it has none in PEM".into(),
        error => error.to_string(),
    }
}

/// What is wrong with a file that an option of BY names.
pub(super) fn about(option: &str, file: &str, error: impl Display) -> String {
    format!("{option}: {file:?}: {error}")
}

/// What is said over a stream, enciphered.
pub(super) struct Channel(Box<Connection>);

impl Channel {
    /// Whether there is something to be sent that was not asked for.
    pub(super) fn wants_write(&self) -> bool {
        self.0.wants_write()
    }

    /// Goes on with the beginning, in which each side looks whether it believes the other; whether that is done.
    pub(super) fn greet(&mut self, stream: &mut (impl Read + Write)) -> io::Result<bool> {
        loop {
            self.flush(stream)?;
            if !self.0.is_handshaking() {
                return Ok(true);
            }
            match self.receive(stream) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }

    /// As for a stream. An end that the other side has not spoken of is an error: somebody else may have cut it off.
    pub(super) fn read(&mut self, stream: &mut (impl Read + Write), bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.reader().read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.kind().into()),
                result => return result,
            }
            self.receive(stream)?;
        }
    }

    fn receive(&mut self, stream: &mut (impl Read + Write)) -> io::Result<usize> {
        let count = self.0.read_tls(stream)?;
        if let Err(error) = self.0.process_new_packets() {
            // The other side is to know too; there is nobody to be told if it can't be.
            let _ = self.0.write_tls(stream);
            return Err(io::Error::other(error));
        }
        Ok(count)
    }

    /// As for a stream; what was taken has to be [`flush`](Self::flush)ed.
    pub(super) fn write(&mut self, stream: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
        match self.0.writer().write(bytes)? {
            0 => {
                self.flush(stream)?;
                match self.0.writer().write(bytes)? {
                    0 => Err(io::ErrorKind::WouldBlock.into()),
                    count => Ok(count),
                }
            }
            count => Ok(count),
        }
    }

    /// Sends what was taken, as far as it can be enciphered already.
    pub(super) fn flush(&mut self, stream: &mut impl Write) -> io::Result<()> {
        while self.0.wants_write() {
            self.0.write_tls(stream)?;
        }
        Ok(())
    }

    /// Nothing more will be written, which the other side is to know.
    pub(super) fn finish(&mut self, stream: &mut impl Write) -> io::Result<()> {
        self.0.send_close_notify();
        self.flush(stream)
    }
}
