//! TLS 1.3 with certificates on both sides: who a program is, says its certificate, and that is good if the authority has
//! signed it, both for clients and for servers.

use std::fmt::Display;
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::sync::Arc;

use drystone_runtime::binding::Hints;
use mio::net::TcpStream;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection, crypto,
    version,
};

/// The files that BY names: certificate, its key, and the authority's certificate.
pub(super) type Files = [String; 3];

/// Which files a BY names, if it does.
///
/// # Errors
/// It names some of them only.
pub(super) fn files(hints: &Hints<'_>) -> Result<Option<Files>, String> {
    let file = |option| hints.option(option).map(|file| String::from_utf8_lossy(file).into_owned());
    match (file("certificate"), file("key"), file("authority")) {
        (None, None, None) => Ok(None),
        (Some(certificate), Some(key), Some(authority)) => Ok(Some([certificate, key, authority])),
        _ => Err("certificate, key and authority go together".to_string()),
    }
}

/// Whether an address can be used without certificates.
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

/// Who this program is, and whom it believes.
pub(super) struct Credentials {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

impl Credentials {
    /// Reads the files, in PEM.
    ///
    /// # Errors
    /// One is not there, or is none such.
    pub(super) fn read([certificate, key, authority]: &Files) -> Result<Credentials, String> {
        let chain = certificates(certificate)?;
        let mut roots = RootCertStore::empty();
        for root in certificates(authority)? {
            roots.add(root).map_err(|error| about(authority, error))?;
        }
        let roots = Arc::new(roots);
        let read_key = || PrivateKeyDer::from_pem_file(key).map_err(|error| about(key, error));
        let provider = Arc::new(crypto::ring::default_provider());
        let only = &[&version::TLS13][..];
        let client = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(only)
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots.clone())
            .with_client_auth_cert(chain.clone(), read_key()?)
            .map_err(|error| about(certificate, error))?;
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider.clone())
            .build()
            .map_err(|error| about(authority, error))?;
        let server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(only)
            .map_err(|error| error.to_string())?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, read_key()?)
            .map_err(|error| about(certificate, error))?;
        Ok(Credentials { client: Arc::new(client), server: Arc::new(server) })
    }

    /// A connection to a host, which must have a certificate for that name or address.
    ///
    /// # Errors
    /// The name can't stand in a certificate.
    pub(super) fn dial(&self, host: &str) -> Result<Channel, String> {
        let host = if host.is_empty() { "localhost" } else { host };
        let name = ServerName::try_from(host.to_string()).map_err(|error| about(host, error))?;
        let connection =
            ClientConnection::new(self.client.clone(), name).map_err(|error| error.to_string())?;
        Ok(Channel(connection.into()))
    }

    /// A connection from somebody, who must have a certificate.
    ///
    /// # Errors
    /// None that is known.
    pub(super) fn accept(&self) -> io::Result<Channel> {
        Ok(Channel(ServerConnection::new(self.server.clone()).map_err(io::Error::other)?.into()))
    }
}

fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if certificates.is_empty() => Err(about(file, "it has no certificate")),
        read => read.map_err(|error| about(file, error)),
    }
}

fn about(what: &str, error: impl Display) -> String {
    format!("{what}: {error}")
}

/// What is said over a stream, enciphered.
pub(super) struct Channel(Connection);

impl Channel {
    /// Whether there is something to be sent that was not asked for.
    pub(super) fn wants_write(&self) -> bool {
        self.0.wants_write()
    }

    /// As for a stream.
    pub(super) fn read(&mut self, stream: &mut TcpStream, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.reader().read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                result => return result,
            }
            if self.0.read_tls(stream)? == 0 {
                return Ok(0);
            }
            if let Err(error) = self.0.process_new_packets() {
                // The other side is to know too; there is nobody to be told if it can't be.
                let _ = self.0.write_tls(stream);
                return Err(io::Error::other(error));
            }
        }
    }

    /// As for a stream; what was taken has to be [`flush`](Self::flush)ed.
    pub(super) fn write(&mut self, stream: &mut TcpStream, bytes: &[u8]) -> io::Result<usize> {
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
    pub(super) fn flush(&mut self, stream: &mut TcpStream) -> io::Result<()> {
        while self.0.wants_write() {
            self.0.write_tls(stream)?;
        }
        Ok(())
    }
}
