#if SoundOutput
  import CSampleRate
#endif

/// A decoded sound file, with interleaved samples at a sample rate.
public struct Sound: Equatable, Sendable {
  /// The maximum number of samples: 12.5 minutes of 48 kHz stereo.
  public static let maximumSampleCount = 72_000_000

  /// The interleaved samples, usually in −1…1.
  public var interleaved: [Float]
  /// The number of channels of the sound.
  public var channelCount: Int
  /// The sample rate of the sound, in hertz.
  public var rate: Double
  /// The truncation of the file from which the sound was read; nil if the file was complete.
  public var truncation: SoundTruncation?

  /// Creates a sound.
  public init(interleaved: [Float], channelCount: Int, rate: Double) {
    self.interleaved = interleaved
    self.channelCount = channelCount
    self.rate = rate
  }

  /// The number of frames of the sound.
  public var frameCount: Int { interleaved.count / max(1, channelCount) }

  /// Decodes an open file, which stays open.
  ///
  /// - Parameters:
  ///   - descriptor: The open file.
  ///   - path: The name of the file in messages.
  /// - Throws: `notSound`, `damaged`, or `tooLong`. The error `tooLong` is thrown before a long
  ///   file is read.
  public init(readingDescriptor descriptor: Int32, path: String) throws(SoundFileError) {
    let fileTruncation = SoundTruncation(readingDescriptor: descriptor)
    var fileReader = try SoundFileReader(readingDescriptor: descriptor, path: path)
    let channelCount = fileReader.channelCount
    let tooLongError = SoundFileError(
      kind: .tooLong, path: path,
      description:
        """
        is too long: more than \(Self.maximumSampleCount) samples (12.5 minutes of stereo at 48 kHz)
        """
    )
    // The header may state fewer frames than the file contains.
    guard fileReader.frameCount <= Self.maximumSampleCount / channelCount else {
      throw tooLongError
    }
    var interleavedSamples: [Float] = []
    let chunkFrameCount = max(1, 65_536 / channelCount)
    var chunkBuffer = [Float](repeating: 0, count: chunkFrameCount * channelCount)
    while true {
      var span = chunkBuffer.mutableSpan
      let count = try fileReader.read(into: &span)
      if count == 0 { break }
      interleavedSamples += chunkBuffer[..<(count * channelCount)]
      guard interleavedSamples.count <= Self.maximumSampleCount else { throw tooLongError }
    }
    self.init(interleaved: interleavedSamples, channelCount: channelCount, rate: fileReader.rate)
    self.truncation = fileTruncation
  }

  /// Returns the sound at another sample rate, converted by libsamplerate's
  /// `SRC_SINC_MEDIUM_QUALITY`.
  ///
  /// The corresponding C function is `src_simple`. Without the package trait SoundOutput, the
  /// conversion is linear interpolation.
  ///
  /// - Parameters:
  ///   - newRate: The sample rate in hertz.
  ///   - path: The name of the file in messages.
  public func resampled(to newRate: Double, path: String) throws(SoundFileError) -> Sound {
    guard newRate != rate, frameCount > 0 else { return self }
    let rateRatio = newRate / rate
    let frameCapacity = Int((Double(frameCount) * rateRatio).rounded(.up)) + 16
    guard rateRatio > 1.0 / 256, rateRatio < 256,
      frameCapacity * channelCount <= 4 * Self.maximumSampleCount
    else {
      throw SoundFileError(
        kind: .tooLong, path: path,
        description: "cannot be resampled from \(rate) Hz to \(newRate) Hz")
    }
    return try converted(to: newRate, ratio: rateRatio, capacity: frameCapacity, path: path)
  }

  #if SoundOutput
    private func converted(to newRate: Double, ratio: Double, capacity: Int, path: String)
      throws(SoundFileError)
      -> Sound
    {
      var output = [Float](repeating: 0, count: capacity * channelCount)
      var made = 0
      let status = unsafe interleaved.withUnsafeBufferPointer { input in
        unsafe output.withUnsafeMutableBufferPointer { output in
          var data = unsafe SRC_DATA()
          unsafe data.data_in = input.baseAddress
          unsafe data.data_out = output.baseAddress
          unsafe data.input_frames = frameCount
          unsafe data.output_frames = capacity
          unsafe data.src_ratio = ratio
          let status = unsafe src_simple(&data, Int32(SRC_SINC_MEDIUM_QUALITY), Int32(channelCount))
          unsafe made = data.output_frames_gen
          return status
        }
      }
      guard status == 0 else {
        let message =
          unsafe src_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
        throw SoundFileError(
          kind: .unsupportedFormat, path: path,
          description: "cannot be resampled (libsamplerate: \(message))")
      }
      output.removeLast(output.count - made * channelCount)
      return Sound(interleaved: output, channelCount: channelCount, rate: newRate)
    }
  #else
    private func converted(to newRate: Double, ratio: Double, capacity: Int, path: String)
      throws(SoundFileError)
      -> Sound
    {
      let count = Int((Double(frameCount) * ratio).rounded())
      var output: [Float] = []
      output.reserveCapacity(count * channelCount)
      for frame in 0..<count {
        let place = min(Double(frame) / ratio, Double(frameCount - 1))
        let first = Int(place)
        let next = min(first + 1, frameCount - 1)
        let share = Float(place - Double(first))
        for channel in 0..<channelCount {
          let from = interleaved[first * channelCount + channel]
          output.append(from + (interleaved[next * channelCount + channel] - from) * share)
        }
      }
      return Sound(interleaved: output, channelCount: channelCount, rate: newRate)
    }
  #endif
}

#if SoundOutput
  import CSndFile

  /// A reader of a sound file, block by block through libsndfile.
  @safe public struct SoundFileReader: ~Copyable {
    /// The number of channels of the file.
    public let channelCount: Int
    /// The sample rate of the file, in hertz.
    public let rate: Double
    /// The number of frames that the header states. The file may contain fewer or more frames.
    public let frameCount: Int64
    /// libsndfile's name for the container format, such as "WAV (Microsoft)".
    public let container: String
    /// libsndfile's name for the sample encoding, such as "Signed 16 bit PCM".
    public let encoding: String

    private let handle: OpaquePointer
    private let path: String

    /// Creates a reader of an open file, which stays open.
    ///
    /// - Parameters:
    ///   - descriptor: The open file.
    ///   - path: The name of the file in messages.
    /// - Throws: `notSound`.
    public init(readingDescriptor descriptor: Int32, path: String) throws(SoundFileError) {
      var info = SF_INFO()
      let handle = try unsafe SndFileBindings.open(
        descriptor: descriptor, mode: SFM_READ, info: &info, path: path)
      guard info.channels > 0, info.samplerate > 0 else {
        try? unsafe SndFileBindings.close(handle, path: path)
        throw SoundFileError(kind: .notSound, path: path, description: "contains no audio")
      }
      channelCount = Int(info.channels)
      rate = Double(info.samplerate)
      frameCount = info.frames
      container = SndFileBindings.formatName(ofCode: info.format & Int32(SF_FORMAT_TYPEMASK))
      encoding = SndFileBindings.formatName(ofCode: info.format & Int32(SF_FORMAT_SUBMASK))
      unsafe self.handle = unsafe handle
      self.path = path
    }

    /// Reads the next frames of the sound file.
    ///
    /// - Parameter samples: The space for interleaved samples, usually in −1…1.
    /// - Returns: The number of frames. It is less than the available space only at the end of the
    ///   file, and 0 after that.
    /// - Throws: `damaged` if the rest of the file cannot be decoded.
    public mutating func read(into samples: inout MutableSpan<Float>) throws(SoundFileError) -> Int
    {
      let capacity = samples.count / channelCount
      let count = unsafe SndFileBindings.read(&samples, frameCount: capacity, from: handle)
      if count < capacity, let message = unsafe SndFileBindings.readError(of: handle) {
        throw SoundFileError(
          kind: .damaged, path: path, description: "is damaged (libsndfile: \(message))")
      }
      return max(0, count)
    }

    deinit { try? unsafe SndFileBindings.close(handle, path: path) }
  }
#endif
