internal import Glibc

#if SoundOutput
  import CSndFile

  /// A container with a way of storing samples.
  public struct SoundFileFormat: Equatable, Sendable {
    /// A kind of file, named by its usual ending; W64 is Sony's 64-bit WAVE, RF64 that of the EBU.
    ///
    /// A WAVE becomes RF64 beyond 4 GiB. Ogg Vorbis stores no whole samples, and a random serial
    /// number in each stream.
    public enum Container: String, CaseIterable, Sendable {
      case wav, flac, aiff, w64, rf64, caf, ogg
    }

    /// The kind of file.
    public var container: Container
    /// How a sample is stored; Ogg ignores it.
    public var sampleFormat: SampleFormat

    /// Makes a format; whether it exists is asked when a file is opened.
    public init(container: Container, sampleFormat samples: SampleFormat) {
      self.container = container
      self.sampleFormat = samples
    }

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
        Self(container: container, sampleFormat: $0).isWritable(rate: 48_000, channelCount: 1)
      }
      if !stored.contains(sampleFormat) {
        let names = stored.map(\.rawValue).joined(separator: " or ")
        return "\(kind) holds \(names) samples, not \(sampleFormat.rawValue)"
      }
      if let most = (1..<max(1, channelCount)).last(where: {
        isWritable(rate: rate, channelCount: $0)
      }) {
        return "\(kind) holds at most \(most) channels, not \(channelCount)"
      }
      return "\(kind) holds no sound of \(rate) Hz"
    }

    private func isWritable(rate: Int, channelCount: Int) -> Bool {
      var info = SF_INFO()
      info.samplerate = Int32(clamping: rate)
      info.channels = Int32(clamping: channelCount)
      info.format = libsndfileFormat(frameCount: 0, channelCount: channelCount)
      return SndFileBindings.canWrite(info)
    }

    func libsndfileFormat(frameCount: Int64, channelCount: Int) -> Int32 {
      // RIFF counts bytes in 32 bits; a mebibyte is left for headers and tags.
      let size = frameCount * Int64(channelCount * sampleFormat.byteCount)
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
        if container == .ogg {
          SF_FORMAT_VORBIS
        } else {
          switch sampleFormat {
          case .s16: SF_FORMAT_PCM_16
          case .s24: SF_FORMAT_PCM_24
          case .s32: SF_FORMAT_PCM_32
          case .float: SF_FORMAT_FLOAT
          }
        }
      return Int32(major | minor)
    }
  }

  /// How one sample is stored: as a whole number of 16 bits, dithered, of 24 or 32 bits, or as
  /// 32-bit floating point.
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
      self.title = title
      self.software = software
      self.comment = comment
    }
  }
#endif

/// Why a sound file could not be read or written.
public struct SoundFileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What can be done about it.
  public enum Kind: String, Sendable {
    /// The name's ending names no format that can be written: choose another.
    case unknownExtension
    /// The format cannot hold these samples, channels or rate: choose another.
    case unsupportedFormat
    /// The file holds no sound that can be read.
    case notSound
    /// The file breaks off or cannot be decoded any further: get a whole one.
    case damaged
    /// The sound is longer than a pattern may play.
    case tooLong
    /// The path leads out of the folder that sounds are read from.
    case outside
    /// There is no file of the name.
    case missing
    /// The name is that of a folder, a pipe or a device.
    case notAFile
    /// The disk is full.
    case diskFull
    /// The system refused.
    case systemRefused
  }

  /// What can be done about it.
  public var kind: Kind
  /// The file, as the user named it.
  public var path: String
  /// One line for the user, without the path.
  public var description: String

  /// Makes an error.
  public init(kind: Kind, path: String, description: String) {
    self.kind = kind
    self.path = path
    self.description = description
  }

  /// A header without a rate or with no possible number of channels.
  static func invalidHeader(_ path: String) -> SoundFileError {
    SoundFileError(
      kind: .notSound, path: path,
      description: "has an invalid header: its sample rate or its number of channels is 0")
  }

  static func system(_ path: String, _ text: String) -> SoundFileError {
    SoundFileError(
      kind: .systemRefused, path: path,
      description: "\(text): \(unsafe String(cString: strerror(errno)))")
  }
}
