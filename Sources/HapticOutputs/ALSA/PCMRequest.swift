public import HapticPlayback
public import SoundFile

/// What is asked of a device.
public struct PCMRequest: Equatable, Sendable {
  /// The name of the device as ALSA's configuration has it.
  public var device: String
  /// Frames per second.
  public var rate: Int
  /// Whether the device's nearest rate will do where it refuses this one.
  public var allowsOtherRate: Bool
  /// How many channels are wanted.
  public var channels: OutputRequest.Channels
  /// How samples are stored; nothing takes the best that the device has itself.
  public var encoding: SampleEncoding?
  /// How frames get there; nothing takes mapped memory where the device has it.
  public var access: PCMAccess?
  /// Frames between two wake-ups; the nearest possible is taken.
  public var periodSize: Int
  /// Frames that fit in all; the nearest possible is taken.
  public var bufferSize: Int
  /// Silence before the first frame, and after a reconnection, on devices that are not sound cards.
  ///
  /// A sound server that starts a stream reads what it is behind by at once, and drops what comes too late
  /// for that: milliseconds, or half a second on a busy machine. Silence therefore goes on until the device
  /// has taken frames in time for as long as this.
  public var leadIn: Duration

  /// Makes a request; by default for a buffer of 20 ms in four periods.
  public init(
    device: String = "default", rate: Int = 48_000, allowsOtherRate: Bool = false,
    channels: OutputRequest.Channels = .atLeast(2), encoding: SampleEncoding? = nil, access: PCMAccess? = nil,
    periodSize: Int = 240, bufferSize: Int = 960, leadIn: Duration = .zero
  ) {
    self.device = device
    self.rate = rate
    self.allowsOtherRate = allowsOtherRate
    self.channels = channels
    self.encoding = encoding
    self.access = access
    self.periodSize = periodSize
    self.bufferSize = bufferSize
    self.leadIn = leadIn
  }

  /// The lead-in of devices that programs open by name: several times what PulseAudio was seen to swallow.
  static let usualLeadIn = Duration.milliseconds(50)

  /// The request of a program to one device, with its sample format.
  init(device: String, _ request: OutputRequest, encoding: SampleEncoding?) {
    self.init(
      device: device, rate: request.rate, allowsOtherRate: request.allowsOtherRate, channels: request.channels,
      encoding: encoding, periodSize: request.periodSize, bufferSize: request.bufferSize, leadIn: Self.usualLeadIn)
  }
}

/// What a device granted, read back from it.
public struct PCMConfiguration: Equatable, Sendable {
  /// Frames per second.
  public var rate: Int
  /// Interleaved channels.
  public var channelCount: Int
  /// How samples are stored.
  public var encoding: SampleEncoding
  /// How frames get there.
  public var access: PCMAccess
  /// Frames between two wake-ups.
  public var periodSize: Int
  /// Frames that fit in all.
  public var bufferSize: Int
  /// Whether a sound card plays the frames without a sound server between.
  public var isHardware: Bool
  /// Whether the device takes frames faster than time goes by, so that the clock holds them back.
  public var isPaced: Bool
  /// Whether the device is a client of JACK, which loses its connections when it is stopped.
  public var isJACKClient: Bool
}

/// How frames get into a device's buffer.
public enum PCMAccess: String, CaseIterable, Sendable {
  /// Laid into the buffer itself.
  case memoryMapped
  /// Handed over by a call that copies them.
  case readWrite
}
