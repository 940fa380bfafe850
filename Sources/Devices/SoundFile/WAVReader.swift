#if !SoundOutput
  internal import Glibc

  /// A reader of WAV files without libsndfile, for 8- to 32-bit PCM and floating point.
  ///
  /// It is used if the package is built without its trait SoundOutput; other types of files are
  /// refused.
  public struct SoundFileReader: ~Copyable {
    /// The number of channels of the file.
    public let channelCount: Int
    /// The sample rate of the file, in hertz.
    public let rate: Double
    /// The number of frames in the file.
    public let frameCount: Int64

    private let layout: Layout
    private let data: ArraySlice<UInt8>
    private var offset: Int

    private struct Layout {
      var isFloat = false
      var channelCount = 0
      var rate = 0
      var byteCount = 0
    }

    /// The maximum size of a file in bytes, for the longest sound with 64 bits per sample and its
    /// header.
    private static let maximumByteCount = 8 * Sound.maximumSampleCount + 65_536

    /// Creates a reader of a file from its start.
    ///
    /// - Throws: `notSound`, `damaged`, or `tooLong`.
    public init(readingDescriptor descriptor: Int32, path: String) throws(SoundFileError) {
      let bytes = try Self.bytes(of: descriptor, path: path)
      let refused = SoundFileError(
        kind: .notSound, path: path,
        description: "is not a PCM WAV file; other formats require the package trait SoundOutput")
      func number(_ offset: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
      }
      func name(_ offset: Int) -> String {
        String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
      }
      guard bytes.count >= 12, name(0) == "RIFF", name(8) == "WAVE" else { throw refused }
      var layout: Layout?
      var offset = 12
      while offset + 8 <= bytes.count {
        let kind = name(offset)
        let length = number(offset + 4, 4)
        let start = offset + 8
        if kind == "fmt ", length >= 16, start + length <= bytes.count {
          var tag = number(start, 2)
          if tag == 0xFFFE, length >= 26 {
            tag = number(start + 24, 2)
          }
          let bits = number(start + 14, 2)
          let found = Layout(
            isFloat: tag == 3, channelCount: number(start + 2, 2), rate: number(start + 4, 4),
            byteCount: bits / 8)
          let isKnown =
            tag == 1 && [8, 16, 24, 32].contains(bits) || tag == 3 && [32, 64].contains(bits)
          guard isKnown else { throw refused }
          guard found.channelCount > 0, found.rate > 0 else { throw .invalidHeader(path) }
          layout = found
        } else if kind == "data", let layout {
          let size = layout.channelCount * layout.byteCount
          let count = min(length, bytes.count - start) / size
          self.layout = layout
          channelCount = layout.channelCount
          rate = Double(layout.rate)
          frameCount = Int64(count)
          data = bytes[start..<start + count * size]
          self.offset = start
          return
        }
        offset = start + length + length % 2
      }
      throw refused
    }

    /// Reads the next frames, and returns their number, or 0 at the end.
    public mutating func read(into samples: inout MutableSpan<Float>) throws(SoundFileError) -> Int
    {
      let size = layout.byteCount
      let count = min(
        samples.count / channelCount, (data.endIndex - offset) / (size * channelCount))
      for index in 0..<count * channelCount {
        samples[index] = sample(at: offset)
        offset += size
      }
      return count
    }

    private func sample(at offset: Int) -> Float {
      let bits = (0..<layout.byteCount).reduce(UInt64(0)) {
        $0 | UInt64(data[offset + $1]) << UInt64(8 * $1)
      }
      if layout.isFloat {
        return layout.byteCount == 4
          ? Float(bitPattern: UInt32(bits)) : Float(Double(bitPattern: bits))
      }
      if layout.byteCount == 1 { return (Float(bits) - 128) / 128 }
      let shift = UInt64(64 - 8 * layout.byteCount)
      return Float(Double(Int64(bitPattern: bits << shift)) / 9_223_372_036_854_775_808)
    }

    private static func bytes(of descriptor: Int32, path: String) throws(SoundFileError) -> [UInt8]
    {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let read = unsafe buffer.withUnsafeMutableBytes { space in
          unsafe Glibc.read(descriptor, space.baseAddress, space.count)
        }
        guard read >= 0 else {
          throw SoundFileError(kind: .damaged, path: path, description: "cannot be read")
        }
        if read == 0 { return bytes }
        bytes += buffer[..<read]
        guard bytes.count <= maximumByteCount else {
          throw SoundFileError(kind: .tooLong, path: path, description: "is too long")
        }
      }
    }
  }
#endif
