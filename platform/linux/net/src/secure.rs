//! TLS 1.3: the [`Files`] that a BY names, a [`Dialer`] and an [`Acceptor`] made of them, and the [`Channel`] of a
//! connection. A program proves its identity by its certificate, and trusts certificates that its authority has signed.

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

use drystone_reactor::reason;

/// The files that BY names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Files {
    /// This program's certificate, and its key.
    pub identity: Option<(String, String)>,
    /// The authority's certificates.
    pub authority: Option<String>,
}

impl Files {
    /// The files that a BY names.
    ///
    /// # Errors
    /// A certificate without its key, or a key without its certificate.
    pub fn of(hints: &Hints<'_>) -> Result<Files, String> {
        let file = |option| hints.option(option).map(|file| String::from_utf8_lossy(file).into_owned());
        let identity = match (file("certificate"), file("key")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("certificate and key go together".to_string()),
        };
        Ok(Files { identity, authority: file("authority") })
    }

    /// Checks files that a library will read by itself.
    ///
    /// # Errors
    /// One can't be read, or has the wrong content.
    pub fn check(&self) -> Result<(), String> {
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
                // Certificates that can't be read are left out.
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                if roots.is_empty() {
                    return Err("the system trusts no certificates: name an authority".to_string());
                }
            }
        }
        Ok(Arc::new(roots))
    }
}

/// This program's identity as a client, and the authority that it trusts.
#[derive(Clone)]
pub struct Dialer(Arc<ClientConfig>);

impl Dialer {
    /// Reads the files, in PEM. With `protocols` the two sides agree on one of them (ALPN).
    ///
    /// # Errors
    /// One can't be read, or has the wrong content.
    pub fn read(files: &Files, protocols: &[&[u8]]) -> Result<Dialer, String> {
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

    /// For a library that makes its channels itself.
    pub fn into_config(self) -> ClientConfig {
        Arc::unwrap_or_clone(self.0)
    }

    /// The channel of a connection to a host, which must have a certificate for that name or address.
    ///
    /// # Errors
    /// The name can't stand in a certificate.
    pub fn dial(&self, host: &str) -> Result<Channel, String> {
        let host = if host.is_empty() { "localhost" } else { host };
        let name = ServerName::try_from(host.to_string()).map_err(|error| format!("{host}: {error}"))?;
        let connection = ClientConnection::new(self.0.clone(), name).map_err(|error| error.to_string())?;
        Ok(Channel(Box::new(connection.into())))
    }
}

/// This program's identity as a server. With an authority, clients must have certificates, too.
#[derive(Clone)]
pub struct Acceptor(Arc<ServerConfig>);

impl Acceptor {
    /// Reads the files, in PEM; `None`: they have no certificate for this program. With `protocols` the two sides agree
    /// on one of them (ALPN).
    ///
    /// # Errors
    /// One can't be read, or has the wrong content.
    pub fn read(files: &Files, protocols: &[&[u8]]) -> Result<Option<Acceptor>, String> {
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

    /// The channel of an accepted connection.
    ///
    /// # Errors
    /// The configuration can't be used; none such is known.
    pub fn accept(&self) -> io::Result<Channel> {
        let connection = ServerConnection::new(self.0.clone()).map_err(io::Error::other)?;
        Ok(Channel(Box::new(connection.into())))
    }
}

/// The certificates in a file that an option of BY names.
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
pub fn about(option: &str, file: &str, error: impl Display) -> String {
    format!("{option}: {file:?}: {error}")
}

/// The TLS state of a connection. Its methods take the stream that carries the encrypted bytes.
pub struct Channel(Box<Connection>);

impl Channel {
    /// Whether encrypted bytes wait to be sent, also without a write.
    pub fn wants_write(&self) -> bool {
        self.0.wants_write()
    }

    /// Goes on with the handshake; whether it is done.
    ///
    /// # Errors
    /// One side doesn't trust the other, or the connection is lost.
    pub fn greet(&mut self, stream: &mut (impl Read + Write)) -> io::Result<bool> {
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

    /// As [`Read::read`]. An end without TLS's own closing message is an error: an attacker may have cut the stream.
    ///
    /// # Errors
    /// As for `Read`, or the bytes are not TLS.
    pub fn read(&mut self, stream: &mut (impl Read + Write), bytes: &mut [u8]) -> io::Result<usize> {
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
            // Sends the alert that tells the other side why.
            let _ = self.0.write_tls(stream);
            return Err(io::Error::other(error));
        }
        Ok(count)
    }

    /// As [`Write::write`]; then call [`flush`](Self::flush).
    ///
    /// # Errors
    /// As for `Write`.
    pub fn write(&mut self, stream: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
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

    /// Sends the encrypted bytes. Bytes that were written before the handshake is done are kept until then.
    ///
    /// # Errors
    /// As for `Write`.
    pub fn flush(&mut self, stream: &mut impl Write) -> io::Result<()> {
        while self.0.wants_write() {
            self.0.write_tls(stream)?;
        }
        Ok(())
    }

    /// Nothing more will be written: tells the other side.
    ///
    /// # Errors
    /// As for `Write`.
    pub fn finish(&mut self, stream: &mut impl Write) -> io::Result<()> {
        self.0.send_close_notify();
        self.flush(stream)
    }
}
