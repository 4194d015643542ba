//! Saves a picture.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use drystone_kortex::system::canvas::Canvas;

/// Saves the visible picture as a PNG file.
pub(crate) fn save(canvas: &Canvas, path: &Path) -> io::Result<()> {
    let file = BufWriter::new(File::create(path)?);
    let (width, height) = canvas.size();
    let mut encoder = png::Encoder::new(file, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&canvas.picture())?;
    Ok(writer.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_can_be_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut canvas = Canvas::new(30, 20);
        canvas.fill(0, 3, 4, 5, 6, 0xABCDEF);
        save(&canvas, file.path()).unwrap();
        let mut reader =
            png::Decoder::new(io::BufReader::new(File::open(file.path()).unwrap())).read_info().unwrap();
        let mut picture = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut picture).unwrap();
        assert_eq!(picture, canvas.picture());
    }
}
