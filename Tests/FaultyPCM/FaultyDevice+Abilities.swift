internal import CFaultyPCM
public import SoundFile

extension FaultyDevice {
  /// What a device offers when it is opened.
  public struct Capabilities: Equatable, Sendable {
    /// Frames per second, at most eight rates.
    public var rates = [48_000]
    /// Numbers of channels, at most eight.
    public var channelCounts = [2]
    /// How samples can be stored.
    public var encodings = SampleEncoding.allCases
    /// Whether frames can be handed over by a call.
    public var hasReadWrite = true
    /// Whether frames can be laid into the buffer.
    public var hasMemoryMap = true
    /// Frames of a period, at least.
    public var leastPeriodLength = 16
    /// Frames of a period, at most.
    public var greatestPeriodLength = 16_384
    /// Frames of the buffer, at most.
    public var greatestBufferLength = 65_536
    /// Parts in a million by which its clock is faster than the time it is in.
    public var drift = 0

    /// The abilities of an ordinary stereo device.
    public init() {}

    /// The same for the device.
    var stored: cfp_abilities {
      var stored = cfp_abilities()
      stored.rateCount = UInt32(rates.count)
      stored.channelCountCount = UInt32(channelCounts.count)
      unsafe withUnsafeMutableBytes(of: &stored.rates) {
        unsafe $0.copyBytes(from: rates.flatMap { Self.bytes(UInt32($0)) })
      }
      unsafe withUnsafeMutableBytes(of: &stored.channelCounts) {
        unsafe $0.copyBytes(from: channelCounts.flatMap { Self.bytes(UInt32($0)) })
      }
      for encoding in encodings { stored.encodings |= Self.bit(of: encoding).rawValue }
      stored.hasReadWrite = hasReadWrite
      stored.hasMemoryMap = hasMemoryMap
      stored.leastPeriodLength = UInt32(leastPeriodLength)
      stored.greatestPeriodLength = UInt32(greatestPeriodLength)
      stored.greatestBufferLength = UInt32(greatestBufferLength)
      stored.drift = Int32(drift)
      return stored
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
      unsafe withUnsafeBytes(of: number) { unsafe Array($0) }
    }

    private static func bit(of encoding: SampleEncoding) -> cfp_encoding {
      switch encoding {
      case .float: CFP_FLOAT
      case .s32: CFP_S32
      case .s24: CFP_S24
      case .s24Packed: CFP_S24_3
      case .s16: CFP_S16
      }
    }
  }
}
