#if SoundOutput
  import CSndFile

  /// A sound file being read, block by block, through libsndfile.
  @safe public struct SoundFileReader: ~Copyable {
    /// Channels in each frame.
    public let channelCount: Int
    /// Frames per second.
    public let rate: Double
    /// Frames the header promises; there may be fewer, or more.
    public let frameCount: Int64
    /// What kind of file it is, in libsndfile's words, such as "WAV (Microsoft)".
    public let container: String
    /// How samples are stored, in libsndfile's words, such as "Signed 16 bit PCM".
    public let encoding: String

    private let handle: OpaquePointer
    private let path: String

    /// Starts to read a file, which stays open for as long as it is read, and after; errors call it by the path.
    ///
    /// - Throws: `notSound`.
    public init(readingDescriptor descriptor: Int32, path: String) throws(SoundFileError) {
      var info = SF_INFO()
      let handle = try unsafe SndFileBindings.open(descriptor: descriptor, mode: SFM_READ, info: &info, path: path)
      guard info.channels > 0, info.samplerate > 0 else {
        try? unsafe SndFileBindings.close(handle, path: path)
        throw SoundFileError(kind: .notSound, path: path, description: "contains no audio")
      }
      channelCount = Int(info.channels)
      rate = Double(info.samplerate)
      frameCount = info.frames
      container = SndFileBindings.name(ofFormat: info.format & Int32(SF_FORMAT_TYPEMASK))
      encoding = SndFileBindings.name(ofFormat: info.format & Int32(SF_FORMAT_SUBMASK))
      unsafe self.handle = unsafe handle
      self.path = path
    }

    /// Reads the next samples.
    ///
    /// - Parameter samples: Space for interleaved samples, usually in −1…1; filled by whole frames.
    /// - Returns: Frames that were read: fewer than there is space for only at the end, then 0.
    /// - Throws: `damaged` where the file cannot be decoded any further.
    public mutating func read(into samples: inout MutableSpan<Float>) throws(SoundFileError) -> Int {
      let room = samples.count / channelCount
      let count = unsafe SndFileBindings.read(&samples, frameCount: room, from: handle)
      if count < room, let said = unsafe SndFileBindings.fault(of: handle) {
        throw SoundFileError(kind: .damaged, path: path, description: "is damaged (libsndfile: \(said))")
      }
      return max(0, count)
    }

    deinit { try? unsafe SndFileBindings.close(handle, path: path) }
  }
#endif
