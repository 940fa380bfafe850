#if SoundOutput
  import CSndFile

  /// A container with a way of storing samples.
  public struct SoundFileFormat: Equatable, Sendable {
    /// A kind of file, named by its usual ending; W64 is Sony's 64-bit WAVE, RF64 that of the EBU.
    ///
    /// A WAVE becomes RF64 beyond 4 GiB. Ogg Vorbis stores no whole samples, and a random serial number in each stream.
    public enum Container: String, CaseIterable, Sendable { case wav, flac, aiff, w64, rf64, caf, ogg }

    /// The kind of file.
    public var container: Container
    /// How a sample is stored; Ogg ignores it.
    public var samples: SampleFormat

    /// Makes a format; whether it exists is asked when a file is opened.
    public init(container: Container, samples: SampleFormat) { (self.container, self.samples) = (container, samples) }

    /// The container a file name's ending stands for, in any case, or nothing.
    public static func container(ofName name: String) -> Container? {
      guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
      let ending = name[name.index(after: dot)...].lowercased()
      return Container(rawValue: ending)
        ?? ["wave": Container.wav, "aif": .aiff, "aifc": .aiff, "oga": .ogg][ending]
    }

    /// Why no file of the format can have a rate and some channels, or nothing where it can.
    public func unsupportedReason(rate: Int, channelCount: Int) -> String? {
      if isWritable(rate: rate, channelCount: channelCount) { return nil }
      let kind = container.rawValue
      let stored = SampleFormat.allCases.filter {
        Self(container: container, samples: $0).isWritable(rate: 48_000, channelCount: 1)
      }
      if !stored.contains(samples) {
        let names = stored.map(\.rawValue).joined(separator: " or ")
        return "\(kind) holds \(names) samples, not \(samples.rawValue)"
      }
      if let most = (1..<max(1, channelCount)).last(where: { isWritable(rate: rate, channelCount: $0) }) {
        return "\(kind) holds at most \(most) channels, not \(channelCount)"
      }
      return "\(kind) holds no sound of \(rate) Hz"
    }

    private func isWritable(rate: Int, channelCount: Int) -> Bool {
      var info = SF_INFO()
      info.samplerate = Int32(clamping: rate)
      info.channels = Int32(clamping: channelCount)
      info.format = code(frameCount: 0, channelCount: channelCount)
      return SndFileBindings.canWrite(info)
    }

    func code(frameCount: Int64, channelCount: Int) -> Int32 {
      // RIFF counts bytes in 32 bits; a mebibyte is left for headers and tags.
      let size = frameCount * Int64(channelCount * samples.byteCount)
      let isHuge = size > 0xFFFF_FFFF - 0x10_0000
      let major =
        switch container {
        case .wav: isHuge ? SF_FORMAT_RF64 : SF_FORMAT_WAV
        case .flac: SF_FORMAT_FLAC
        case .aiff: SF_FORMAT_AIFF
        case .w64: SF_FORMAT_W64
        case .rf64: SF_FORMAT_RF64
        case .caf: SF_FORMAT_CAF
        case .ogg: SF_FORMAT_OGG
        }
      let minor =
        if container == .ogg { SF_FORMAT_VORBIS } else {
          switch samples {
          case .s16: SF_FORMAT_PCM_16
          case .s24: SF_FORMAT_PCM_24
          case .s32: SF_FORMAT_PCM_32
          case .float: SF_FORMAT_FLOAT
          }
        }
      return Int32(major | minor)
    }
  }

  /// How one sample is stored: as a whole number of 16 bits, dithered, of 24 or 32 bits, or as 32-bit floating point.
  public enum SampleFormat: String, CaseIterable, Sendable {
    case s16, s24, s32, float

    /// Bytes of a sample in an uncompressed file.
    public var byteCount: Int { self == .s24 ? 3 : encoding.byteCount }

    var encoding: SampleEncoding {
      switch self {
      case .s16: .s16
      case .s24: .s24
      case .s32: .s32
      case .float: .float
      }
    }
  }

  /// Text that a sound file carries about itself.
  ///
  /// No date is ever written, so that equal renderings are equal files.
  public struct SoundFileTags: Equatable, Sendable {
    /// What is heard.
    public var title: String
    /// What made the file.
    public var software: String
    /// How it was made.
    public var comment: String

    /// Makes tags; an empty text is left out.
    public init(title: String = "", software: String = "", comment: String = "") {
      (self.title, self.software, self.comment) = (title, software, comment)
    }
  }
#endif
