internal import CFaultyPCM
public import HapticPlayback
public import SoundFile
internal import Synchronization

extension FaultyDevice {
  /// The capabilities of a device when it is opened.
  public struct Capabilities: Equatable, Sendable {
    /// The sample rates, at most eight.
    public var rates = [48_000]
    /// The numbers of channels, at most eight values.
    public var channelCounts = [2]
    /// The sample formats.
    public var encodings = SampleEncoding.allCases
    /// True if the device supports transfers with read and write calls.
    public var hasReadWrite = true
    /// True if the device supports transfers into its memory-mapped buffer.
    public var hasMemoryMap = true
    /// The minimum number of frames of a period.
    public var minimumPeriodSize = 16
    /// The maximum number of frames of a period.
    public var maximumPeriodSize = 16_384
    /// The maximum number of frames of the buffer.
    public var maximumBufferSize = 65_536
    /// The deviation of the device's clock in parts per million, positive if the clock is fast.
    public var clockDriftPPM = 0
    /// True if the device has the name of a stream of a sound server.
    public var isServerStream = false

    /// Creates the capabilities of an ordinary stereo device.
    public init() {}

    /// The capabilities as a structure of the plug-in.
    var cValue: cfp_capabilities {
      var capabilities = cfp_capabilities()
      capabilities.rateCount = UInt32(rates.count)
      capabilities.channelCountCount = UInt32(channelCounts.count)
      unsafe withUnsafeMutableBytes(of: &capabilities.rates) {
        unsafe $0.copyBytes(from: rates.flatMap { Self.bytes(UInt32($0)) })
      }
      unsafe withUnsafeMutableBytes(of: &capabilities.channelCounts) {
        unsafe $0.copyBytes(from: channelCounts.flatMap { Self.bytes(UInt32($0)) })
      }
      for encoding in encodings {
        capabilities.encodings |= Self.bit(of: encoding).rawValue
      }
      capabilities.hasReadWrite = hasReadWrite
      capabilities.hasMemoryMap = hasMemoryMap
      capabilities.minimumPeriodSize = UInt32(minimumPeriodSize)
      capabilities.maximumPeriodSize = UInt32(maximumPeriodSize)
      capabilities.maximumBufferSize = UInt32(maximumBufferSize)
      capabilities.clockDriftPPM = Int32(clockDriftPPM)
      capabilities.isServerStream = isServerStream
      return capabilities
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

/// A fault of a device.
public enum Fault: Equatable, Sendable {
  /// The device underruns immediately, and drops the queued frames.
  case underrun
  /// The device is suspended. If it cannot resume, it must be prepared again.
  case suspend(canResume: Bool)
  /// The device is absent for a while, and attempts to open it fail with an error number.
  case disconnect(duration: Duration, code: Int32)
  /// The device does not advance for a while, and reports no error.
  case stall(duration: Duration)
  /// The device accepts at most a number of frames in each of the next transfers.
  case shortTransfers(frameCount: Int, count: Int)
  /// The next transfers fail with an error number.
  case failTransfers(code: Int32, count: Int)
  /// The next starts fail with an error number.
  case failStarts(code: Int32, count: Int)
  /// The next preparations fail with an error number.
  case failPreparations(code: Int32, count: Int)
  /// From now on, the reported delay is wrong by a number of frames.
  case addDelay(frameCount: Int)
  /// For a while, the device reports that it is ready even if it is not.
  case reportFalseReadiness(duration: Duration)
  /// The device skips a number of queued frames immediately.
  case skipFrames(frameCount: Int)
  /// The device drops the next frames as it accepts them, like a sound server that is late.
  case dropFrames(frameCount: Int)
  /// The device once reports that it accepted more frames than it received, by a number of frames.
  case overstateTransfer(frameCount: Int)
  /// The device loses its configuration and the queued frames.
  case loseConfiguration
  /// The next call of a kind hangs for a while.
  case hang(Call, duration: Duration)
  /// From now on, the device reports a wrong position.
  case misreportPointer(Pointer)
  /// The device has other capabilities when it is opened the next time.
  case changeCapabilities(FaultyDevice.Capabilities)

  /// The position that a device reports.
  public enum Pointer: Equatable, Sendable {
    /// A random position between the played and the accepted frames.
    case random
    /// The end of the accepted frames.
    case full
    /// The actual position, rounded down to a multiple of a number of frames.
    case steps(Int)
    /// A number of frames before the actual position.
    case back(Int)
  }

  /// A call of the library, with its number in the plug-in.
  public enum Call: UInt32, CaseIterable, Sendable {
    case start, stop, pointer, transfer, prepare, resume, delay
  }
}

/// A virtual clock that a wait advances to the next event of a device or to the end of the wait,
/// whichever comes first.
///
/// Only one thread may wait. Other threads may read the time and raise signals.
public final class DeviceTime: TimeSource {
  private let time = Mutex(Duration.zero)
  // Only the thread that waits uses the device.
  private nonisolated(unsafe) let device: FaultyDevice

  /// Creates the clock of a device.
  public init(_ device: FaultyDevice) {
    unsafe self.device = device
    device.time = self
  }

  /// The virtual time.
  public var now: Duration { time.withLock { $0 } }

  /// Waits until a descriptor is ready, or until the timeout. Without a timeout and without an
  /// event of the device, the method waits in real time for another thread.
  public func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    let deadline = timeout.map { Self.wholeNanoseconds(now + $0) }
    while true {
      SystemTimeSource().wait(for: &descriptors, timeout: .zero)
      let now = now
      guard descriptors.allSatisfy({ $0.receivedEvents == 0 }), deadline.map({ $0 > now }) ?? true
      else {
        return
      }
      guard let nextTime = [unsafe device.nextEvent, deadline].compactMap(\.self).min() else {
        SystemTimeSource().wait(for: &descriptors, timeout: nil)
        return
      }
      advance(by: max(.zero, nextTime - now))
    }
  }

  /// Advances the clock, as if the thread were busy.
  public func advance(by duration: Duration) {
    let roundedTime = Self.wholeNanoseconds(now + duration)
    time.withLock { $0 = roundedTime }
    unsafe device.advance(to: roundedTime)
  }

  /// Returns a time, rounded up to whole nanoseconds, the unit of the device.
  private static func wholeNanoseconds(_ time: Duration) -> Duration {
    let (seconds, attoseconds) = time.components
    return .seconds(seconds) + .nanoseconds((attoseconds + 999_999_999) / 1_000_000_000)
  }
}
