internal import PCMSamples

/// How one sample is stored.
public enum SampleFormat: String, CaseIterable, Sendable {
  /// 16-bit whole numbers, dithered.
  case s16
  /// 24-bit whole numbers.
  case s24
  /// 32-bit whole numbers.
  case s32
  /// 32-bit floating point.
  case float

  /// Bytes of a sample in an uncompressed file.
  public var byteCount: Int {
    switch self {
    case .s16: 2
    case .s24: 3
    case .s32, .float: 4
    }
  }

  /// The numbers that are stored.
  var encoding: SampleEncoding {
    switch self {
    case .s16: .s16
    case .s24: .s24
    case .s32: .s32
    case .float: .float
    }
  }
}
