/// How one sample lies in memory, in the byte order of this machine.
public enum SampleEncoding: String, CaseIterable, Sendable {
  /// 32-bit floating point.
  case float
  /// 32-bit whole numbers.
  case s32
  /// 24-bit whole numbers in the lower bytes of four, the sign continued into the fourth.
  case s24
  /// 24-bit whole numbers in three bytes.
  case s24Packed = "s24_3"
  /// 16-bit whole numbers, dithered.
  case s16

  /// Bytes of a sample.
  public var byteCount: Int {
    switch self {
    case .float, .s32, .s24: 4
    case .s24Packed: 3
    case .s16: 2
    }
  }
}
