internal import CFaultyPCM
public import HapticPlayback
public import SoundFile
internal import Synchronization

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
    public var minimumPeriodSize = 16
    /// Frames of a period, at most.
    public var maximumPeriodSize = 16_384
    /// Frames of the buffer, at most.
    public var maximumBufferSize = 65_536
    /// Parts in a million by which its clock is faster than the time it is in.
    public var clockDriftPPM = 0
    /// Whether it has the name of a stream of a sound server.
    public var isServerStream = false

    /// The abilities of an ordinary stereo device.
    public init() {}

    /// The same for the device.
    var cValue: cfp_abilities {
      var stored = cfp_abilities()
      stored.rateCount = UInt32(rates.count)
      stored.channelCountCount = UInt32(channelCounts.count)
      unsafe withUnsafeMutableBytes(of: &stored.rates) {
        unsafe $0.copyBytes(from: rates.flatMap { Self.bytes(UInt32($0)) })
      }
      unsafe withUnsafeMutableBytes(of: &stored.channelCounts) {
        unsafe $0.copyBytes(from: channelCounts.flatMap { Self.bytes(UInt32($0)) })
      }
      for encoding in encodings {
        stored.encodings |= Self.bit(of: encoding).rawValue
      }
      stored.hasReadWrite = hasReadWrite
      stored.hasMemoryMap = hasMemoryMap
      stored.leastPeriodLength = UInt32(minimumPeriodSize)
      stored.greatestPeriodLength = UInt32(maximumPeriodSize)
      stored.greatestBufferLength = UInt32(maximumBufferSize)
      stored.drift = Int32(clockDriftPPM)
      stored.isServerStream = isServerStream
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

/// What can be done to a device at a moment.
public enum Fault: Equatable, Sendable {
  /// It runs dry at once: what is queued is never heard.
  case underrun
  /// It falls asleep; if it cannot resume, it has to be prepared.
  case suspend(canResume: Bool)
  /// It goes away for a while; opening it is refused with a number of errno.
  case disconnect(duration: Duration, code: Int32)
  /// It holds still for a while without a word.
  case stall(duration: Duration)
  /// It takes at most this many frames at a time, so many times.
  case shortTransfers(frameCount: Int, count: Int)
  /// It fails transfers with a number of errno.
  case failTransfers(code: Int32, count: Int)
  /// It fails to start with a number of errno.
  case failStarts(code: Int32, count: Int)
  /// It fails to be prepared with a number of errno.
  case failPreparations(code: Int32, count: Int)
  /// It tells a delay that is wrong by this many frames, from now on.
  case addDelay(frameCount: Int)
  /// It says for a while that it is ready, whether it is or not.
  case reportFalseReadiness(duration: Duration)
  /// It passes over this many frames at once, which nobody hears.
  case skipFrames(frameCount: Int)
  /// It drops the next frames as it takes them, as a sound server does that is behind.
  case dropFrames(frameCount: Int)
  /// It claims to have taken this many frames more than it was given, once.
  case overstateTransfer(frameCount: Int)
  /// It is as if it had never been set up; what is queued is never heard.
  case loseConfiguration
  /// The next call of a kind takes this long.
  case hang(Call, duration: Duration)
  /// It tells a wrong pointer from now on.
  case misreportPointer(Pointer)
  /// It offers something else when it is opened the next time.
  case changeCapabilities(FaultyDevice.Capabilities)

  /// Where a device says it is.
  public enum Pointer: Equatable, Sendable {
    /// Anywhere between what was played and what was taken.
    case random
    /// At the end of what was taken.
    case full
    /// At the last whole step of so many frames.
    case steps(Int)
    /// So many frames before where it is.
    case back(Int)
  }

  /// What the library calls, with the numbers that the device has for it.
  public enum Call: UInt32, CaseIterable, Sendable {
    case start, stop, pointer, transfer, prepare, resume, delay
  }
}

/// Time that waiting moves: to the next event of a device, or to the end of the wait, whichever
/// comes first.
///
/// One thread waits in it; others may read the time and raise signals.
public final class DeviceTime: TimeSource {
  private let time = Mutex(Duration.zero)
  // Only the one thread that waits touches it.
  private nonisolated(unsafe) let device: FaultyDevice

  /// The time of one device.
  public init(_ device: FaultyDevice) {
    unsafe self.device = device
    device.time = self
  }

  /// The virtual moment.
  public var now: Duration { time.withLock { $0 } }

  /// Waits until a descriptor is ready; a wait for ever in which nothing can happen waits for
  /// another thread.
  public func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    let deadline = timeout.map { Self.wholeNanoseconds(now + $0) }
    while true {
      SystemTimeSource().wait(for: &descriptors, timeout: .zero)
      let now = now
      guard descriptors.allSatisfy({ $0.receivedEvents == 0 }), deadline.map({ $0 > now }) ?? true
      else {
        return
      }
      guard let next = [unsafe device.nextEvent, deadline].compactMap({ $0 }).min() else {
        SystemTimeSource().wait(for: &descriptors, timeout: nil)
        return
      }
      advance(by: max(.zero, next - now))
    }
  }

  /// Lets time go by, as a thread does that is busy with something else.
  public func advance(by duration: Duration) {
    let moment = Self.wholeNanoseconds(now + duration)
    time.withLock { $0 = moment }
    unsafe device.advance(to: moment)
  }

  /// A moment rounded up to what the device counts in.
  private static func wholeNanoseconds(_ moment: Duration) -> Duration {
    let (seconds, attoseconds) = moment.components
    return .seconds(seconds) + .nanoseconds((attoseconds + 999_999_999) / 1_000_000_000)
  }
}
