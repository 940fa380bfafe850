internal import Glibc

#if SoundOutput
  import CSndFile

  /// A format of sound files, which is a container with a sample format.
  public struct SoundFileFormat: Equatable, Sendable {
    /// A container format, named by its common extension. W64 is Sony's 64-bit WAVE; RF64 is the
    /// EBU's 64-bit WAVE.
    ///
    /// A WAVE beyond 4 GiB becomes an RF64. Ogg Vorbis stores no exact samples, and each stream has
    /// a random serial number.
    public enum Container: String, CaseIterable, Sendable {
      case wav, flac, aiff, w64, rf64, caf, ogg
    }

    /// The container format, or file type.
    public var container: Container
    /// The sample format, which Ogg ignores.
    public var sampleFormat: SampleFormat

    /// Creates a format. Its support is checked when a file is opened.
    public init(container: Container, sampleFormat: SampleFormat) {
      self.container = container
      self.sampleFormat = sampleFormat
    }

    /// Returns the container for the extension of a file name, in any case; nil for an unknown
    /// extension.
    public static func container(ofName name: String) -> Container? {
      guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
      let ending = name[name.index(after: dot)...].lowercased()
      return Container(rawValue: ending)
        ?? ["wave": Container.wav, "aif": .aiff, "aifc": .aiff, "oga": .ogg][ending]
    }

    /// Returns the reason that the format does not support a sample rate and a number of channels,
    /// or nil if it supports them.
    public func unsupportedReason(rate: Int, channelCount: Int) -> String? {
      if isWritable(rate: rate, channelCount: channelCount) { return nil }
      let kind = container.rawValue
      let stored = SampleFormat.allCases.filter {
        Self(container: container, sampleFormat: $0).isWritable(rate: 48_000, channelCount: 1)
      }
      if !stored.contains(sampleFormat) {
        let names = stored.map(\.rawValue).joined(separator: " or ")
        return "\(kind) does not support \(sampleFormat.rawValue) samples; use \(names)"
      }
      if let maximumCount = (1..<max(1, channelCount)).last(where: {
        isWritable(rate: rate, channelCount: $0)
      }) {
        return "\(kind) supports at most \(maximumCount) channels, not \(channelCount)"
      }
      return "\(kind) does not support a sample rate of \(rate) Hz"
    }

    private func isWritable(rate: Int, channelCount: Int) -> Bool {
      var info = SF_INFO()
      info.samplerate = Int32(clamping: rate)
      info.channels = Int32(clamping: channelCount)
      info.format = libsndfileFormat(frameCount: 0, channelCount: channelCount)
      return SndFileBindings.canWrite(info)
    }

    func libsndfileFormat(frameCount: Int64, channelCount: Int) -> Int32 {
      // RIFF has 32-bit sizes; a mebibyte is reserved for headers and tags.
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

  /// The representation of a sample in a file. It is a dithered 16-bit integer, a 24- or 32-bit
  /// integer, or 32-bit floating point.
  public enum SampleFormat: String, CaseIterable, Sendable {
    case s16, s24, s32, float

    /// The size of a sample in an uncompressed file, in bytes.
    public var byteCount: Int { self == .s24 ? 3 : encoding.bytesPerSample }

    var encoding: SampleEncoding {
      switch self {
      case .s16: .s16
      case .s24: .s24
      case .s32: .s32
      case .float: .float
      }
    }
  }

  /// The text tags of a sound file.
  ///
  /// No date is written, so that equal renderings are equal files.
  public struct SoundFileTags: Equatable, Sendable {
    /// The title of the sound, for the tag of the file.
    public var title: String
    /// The name of the program that made the file.
    public var software: String
    /// The comment about the rendering.
    public var comment: String

    /// Creates the tags of a file. An empty text is omitted.
    public init(title: String = "", software: String = "", comment: String = "") {
      self.title = title
      self.software = software
      self.comment = comment
    }
  }
#endif

/// The error of reading or writing a sound file.
public struct SoundFileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of an error, which determines the remedy.
  public enum Kind: String, Sendable {
    /// The extension does not belong to a supported format. The remedy is another extension.
    case unknownExtension
    /// The format does not support these samples, channels, or sample rate. The remedy is another
    /// format.
    case unsupportedFormat
    /// The file contains no readable sound.
    case notSound
    /// The file is truncated or cannot be decoded further. The remedy is a complete file.
    case damaged
    /// The sound exceeds the maximum length for patterns.
    case tooLong
    /// The path leads outside the folder for sounds.
    case outside
    /// The file does not exist.
    case missing
    /// The path leads to a folder, a pipe, or a device.
    case notAFile
    /// The disk is full.
    case diskFull
    /// The system refused the operation.
    case systemRefused
  }

  /// The kind of the error, which determines the remedy.
  public var kind: Kind
  /// The path of the file, as the user named it.
  public var path: String
  /// The message for the user on one line, without the path.
  public var description: String

  /// Creates an error.
  public init(kind: Kind, path: String, description: String) {
    self.kind = kind
    self.path = path
    self.description = description
  }

  /// Returns the error for a header without a sample rate or with an impossible number of channels.
  static func invalidHeader(_ path: String) -> SoundFileError {
    SoundFileError(
      kind: .notSound, path: path,
      description: "has an invalid header: its sample rate or its number of channels is 0")
  }

  static func systemError(_ path: String, _ text: String) -> SoundFileError {
    SoundFileError(
      kind: .systemRefused, path: path,
      description: "\(text): \(unsafe String(cString: strerror(errno)))")
  }
}
