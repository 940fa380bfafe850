#if SoundOutput
  import CSndFile
  internal import Glibc
  internal import SystemSupport

  /// A writer of a sound file, block by block.
  /// libsndfile writes the file if it is available; otherwise, the file is a plain WAV file.
  @safe public struct SoundFileWriter: ~Copyable {
    private var sndFileHandle: OpaquePointer?
    private let descriptor: Int32
    private var ownsDescriptor = false
    private let path: String
    private let fileFormat: SoundFileFormat
    private let channelCount: Int
    private var sampleEncoder: SampleEncoder
    private var int16Samples: [Int16] = []
    private var int32Samples: [Int32] = []
    private var plainWAVWriter: PlainWAV?

    /// Creates a file.
    ///
    /// - Parameters:
    ///   - descriptor: An open, seekable file, which stays open after `close()`.
    ///   - path: The name of the file in messages.
    ///   - format: The format.
    ///   - rate: The sample rate in hertz.
    ///   - channelCount: The number of channels.
    ///   - frameCount: The expected length, which decides whether a WAVE needs 64-bit sizes.
    ///   - tags: The tags.
    public init(
      descriptor: Int32, path: String, format: SoundFileFormat, rate: Int, channelCount: Int,
      frameCount: Int64,
      tags: SoundFileTags = SoundFileTags()
    ) throws(SoundFileError) {
      try self.init(
        descriptor: descriptor, path: path, format: format, rate: rate,
        channelCount: channelCount, frameCount: frameCount, tags: tags,
        usesLibrary: SndFileBindings.isAvailable)
    }

    /// Creates a file, with or without libsndfile.
    init(
      descriptor: Int32, path: String, format: SoundFileFormat, rate: Int, channelCount: Int,
      frameCount: Int64, tags: SoundFileTags = SoundFileTags(), usesLibrary: Bool
    ) throws(SoundFileError) {
      if let unsupportedReason = format.unsupportedReason(rate: rate, channelCount: channelCount) {
        throw SoundFileError(kind: .unsupportedFormat, path: path, description: unsupportedReason)
      }
      let isPlain = !usesLibrary && format.container == .wav
      var info = SF_INFO()
      info.samplerate = Int32(clamping: rate)
      info.channels = Int32(clamping: channelCount)
      info.format = format.libsndfileFormat(frameCount: frameCount, channelCount: channelCount)
      let opened =
        unsafe isPlain
        ? nil
        : try SndFileBindings.open(descriptor: descriptor, mode: SFM_WRITE, info: &info, path: path)
      unsafe sndFileHandle = opened
      self.descriptor = descriptor
      self.path = path
      self.fileFormat = format
      self.channelCount = channelCount
      sampleEncoder = SampleEncoder(format.sampleFormat.encoding)
      plainWAVWriter =
        isPlain
        ? PlainWAV(
          descriptor, path: path, sampleFormat: format.sampleFormat, sampleRateHertz: rate,
          channelCount: channelCount)
        : nil
      guard let opened = unsafe opened else { return }
      unsafe SndFileBindings.omitPeakChunk(of: opened)
      for (tag, text) in [
        (SF_STR_TITLE, tags.title), (SF_STR_SOFTWARE, tags.software),
        (SF_STR_COMMENT, tags.comment),
      ]
      where !text.isEmpty {
        unsafe SndFileBindings.setTag(Int(tag), text, of: opened)
      }
    }

    /// Creates a file at a path, and replaces an existing file. `close()` closes it.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - format: The format.
    ///   - rate: The sample rate in hertz.
    ///   - channelCount: The number of channels.
    ///   - frameCount: The expected length, or 0; it decides whether a WAVE needs 64-bit sizes.
    ///   - tags: The tags.
    public init(
      path: String, format: SoundFileFormat, rate: Int, channelCount: Int, frameCount: Int64 = 0,
      tags: SoundFileTags = SoundFileTags()
    ) throws(SoundFileError) {
      // The header is completed at the end, so the file must be seekable.
      guard FileSystem.entryKind(at: path) != .other else {
        throw SoundFileError(
          kind: .notAFile, path: path, description: FileError.deviceOrPipeReason)
      }
      let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else { throw SoundFileError.systemError(path, "cannot be created") }
      do throws(SoundFileError) {
        try self.init(
          descriptor: descriptor, path: path, format: format, rate: rate,
          channelCount: channelCount,
          frameCount: frameCount, tags: tags)
      } catch {
        Glibc.close(descriptor)
        throw error
      }
      ownsDescriptor = true
    }

    /// Writes interleaved samples in −1…1. The samples must form a whole number of frames.
    public mutating func write(_ samples: Span<Float>) throws(SoundFileError) {
      try plainWAVWriter?.write(samples)
      guard let handle = unsafe sndFileHandle else { return }
      let frameCount = samples.count / channelCount
      switch fileFormat.sampleFormat {
      case _ where fileFormat.container == .ogg, .float:
        try unsafe SndFileBindings.write(
          samples, frameCount: frameCount, to: handle, path: path, with: sf_writef_float)
      case .s16:
        sampleEncoder.encode(samples, growing: &int16Samples)
        try unsafe SndFileBindings.write(
          int16Samples.span, frameCount: frameCount, to: handle, path: path, with: sf_writef_short)
      case .s24, .s32:
        sampleEncoder.encode(samples, growing: &int32Samples)
        if fileFormat.sampleFormat == .s24 {
          // libsndfile expects 24-bit samples in the upper bits of 32.
          var span = int32Samples.mutableSpan
          for index in samples.indices {
            span[index] &<<= 8
          }
        }
        try unsafe SndFileBindings.write(
          int32Samples.span, frameCount: frameCount, to: handle, path: path, with: sf_writef_int)
      }
    }

    /// Updates the header, so that the file is valid with the samples written so far.
    ///
    /// FLAC and Ogg are streams, whose headers need no update.
    public mutating func updateHeader() throws(SoundFileError) {
      try plainWAVWriter?.finishHeader()
      guard let handle = unsafe sndFileHandle, ![.flac, .ogg].contains(fileFormat.container) else {
        return
      }
      unsafe SndFileBindings.updateHeader(of: handle)
    }

    /// Completes the header and closes the file. No samples can be written afterward.
    ///
    /// Further calls have no effect, even after an error, because the descriptor's number may then
    /// belong to another file.
    public mutating func close() throws(SoundFileError) {
      if let plainWAV = plainWAVWriter {
        plainWAVWriter = nil
        defer {
          if ownsDescriptor {
            Glibc.close(descriptor)
          }
        }
        try plainWAV.finishHeader()
      }
      guard let open = unsafe sndFileHandle else { return }
      unsafe sndFileHandle = nil
      defer {
        if ownsDescriptor {
          Glibc.close(descriptor)
        }
      }
      try unsafe SndFileBindings.close(open, path: path)
      // A long WAVE is an RF64 as well.
      if [.wav, .rf64].contains(fileFormat.container), fileFormat.sampleFormat == .float {
        try PeakChunk.eraseTime(in: descriptor, path: path)
      }
    }

    deinit {
      if let open = unsafe sndFileHandle {
        try? unsafe SndFileBindings.close(open, path: path)
      } else if let plainWAV = plainWAVWriter {
        try? plainWAV.finishHeader()
      } else {
        return
      }
      if ownsDescriptor {
        Glibc.close(descriptor)
      }
    }
  }

  extension SoundFileWriter {
    /// Returns a sound file in memory, with the same samples as a file on disk. FLAC has maximum
    /// compression.
    ///
    /// - Parameters:
    ///   - samples: Interleaved samples in −1…1, a whole number of frames.
    ///   - format: The format.
    ///   - rate: The sample rate in hertz.
    ///   - channelCount: The number of channels.
    ///   - name: The name of the file in messages.
    ///   - tags: The tags.
    public static func bytes(
      of samples: Span<Float>, format: SoundFileFormat, rate: Int, channelCount: Int,
      name: String = "sound",
      tags: SoundFileTags = SoundFileTags()
    ) throws(SoundFileError) -> [UInt8] {
      // libsndfile needs a seekable file: an unnamed one, which disappears when it is closed.
      guard let file = unsafe tmpfile() else {
        throw SoundFileError.systemError(name, "cannot be created")
      }
      defer { unsafe fclose(file) }
      let descriptor = unsafe fileno(file)
      var writer = try SoundFileWriter(
        descriptor: descriptor, path: name, format: format, rate: rate, channelCount: channelCount,
        frameCount: Int64(samples.count / max(1, channelCount)), tags: tags)
      if let handle = unsafe writer.sndFileHandle, format.container == .flac {
        unsafe SndFileBindings.setMaximumCompression(handle)
      }
      try writer.write(samples)
      try writer.close()
      let size = Int(lseek(descriptor, 0, SEEK_END))
      var bytes: [UInt8] = []
      guard size >= 0, lseek(descriptor, 0, SEEK_SET) == 0,
        (try? FileSystem.appendBytes(to: &bytes, size, of: descriptor, name: name)) == true
      else { throw SoundFileError.systemError(name, "cannot be read") }
      return bytes
    }
  }

  /// A writer of WAV files without tags, for systems without libsndfile.
  struct PlainWAV {
    private let descriptor: Int32
    private let path: String
    private let isFloat: Bool
    private let sampleRateHertz: Int
    private let frameByteCount: Int
    private let sampleByteCount: Int
    private var encoder: SampleEncoder
    private var writtenByteCount = 0
    private static let headerByteCount = 44

    init(
      _ descriptor: Int32, path: String, sampleFormat: SampleFormat, sampleRateHertz: Int,
      channelCount: Int
    ) {
      let encoding = sampleFormat == .s24 ? SampleEncoding.s24Packed : sampleFormat.encoding
      self.descriptor = descriptor
      self.path = path
      self.sampleRateHertz = sampleRateHertz
      sampleByteCount = encoding.bytesPerSample
      frameByteCount = encoding.bytesPerSample * channelCount
      isFloat = sampleFormat == .float
      encoder = SampleEncoder(encoding)
    }

    mutating func write(_ samples: Span<Float>) throws(SoundFileError) {
      var bytes = [UInt8](repeating: 0, count: samples.count * sampleByteCount)
      var span = bytes.mutableSpan
      var raw = unsafe span.mutableBytes
      encoder.encode(samples, into: &raw)
      try writeBytes(bytes, at: Self.headerByteCount + writtenByteCount)
      writtenByteCount += bytes.count
    }

    func finishHeader() throws(SoundFileError) {
      func number(_ value: Int, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
      }
      var header =
        Array("RIFF".utf8) + number(Self.headerByteCount - 8 + writtenByteCount, 4)
        + Array("WAVEfmt ".utf8)
      header +=
        number(16, 4) + number(isFloat ? 3 : 1, 2) + number(frameByteCount / sampleByteCount, 2)
        + number(sampleRateHertz, 4)
      header +=
        number(sampleRateHertz * frameByteCount, 4) + number(frameByteCount, 2)
        + number(8 * sampleByteCount, 2)
      try writeBytes(header + Array("data".utf8) + number(writtenByteCount, 4), at: 0)
    }

    private func writeBytes(_ bytes: [UInt8], at offset: Int) throws(SoundFileError) {
      var writtenCount = 0
      while writtenCount < bytes.count {
        let count = unsafe bytes.withUnsafeBytes { buffer in
          unsafe pwrite(
            descriptor, buffer.baseAddress?.advanced(by: writtenCount), bytes.count - writtenCount,
            off_t(offset + writtenCount))
        }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { throw SoundFileError.systemError(path, "cannot be written") }
        writtenCount += count
      }
    }
  }

  extension SampleEncoder {
    /// Encodes samples to the start of an array, which is enlarged if necessary.
    fileprivate mutating func encode<Number: FixedWidthInteger & BitwiseCopyable>(
      _ samples: Span<Float>, growing stored: inout [Number]
    ) {
      if stored.count < samples.count {
        stored = Array(repeating: 0, count: samples.count)
      }
      var span = stored.mutableSpan
      // Every bit pattern is a valid integer.
      var bytes = unsafe span.mutableBytes
      encode(samples, into: &bytes)
    }
  }

  /// The chunk with the time of day in an RF64 file of floating-point samples, which libsndfile
  /// cannot omit.
  enum PeakChunk {
    /// Sets the time of the chunk to 0, so that equal sounds are equal files.
    /// After its name and size, the chunk has a version and the time, four bytes each.
    static func eraseTime(in descriptor: Int32, path: String) throws(SoundFileError) {
      var offset = off_t(12)
      var head: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
      while unsafe pread(descriptor, &head, head.count, offset) == head.count {
        let name = String(decoding: head[..<4], as: UTF8.self)
        // The header consists of zeros if a full disk prevented it from being written.
        if name == "data" || head.allSatisfy({ $0 == 0 }) { return }
        if name == "PEAK" {
          let time: [UInt8] = [0, 0, 0, 0]
          guard unsafe pwrite(descriptor, time, time.count, offset + 12) == time.count else {
            throw SoundFileError.systemError(path, "cannot write")
          }
          return
        }
        let size = head[4...].reversed().reduce(off_t(0)) { $0 << 8 | off_t($1) }
        offset += 8 + size + size & 1
      }
    }
  }
#endif
