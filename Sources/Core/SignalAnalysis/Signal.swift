internal import CMath

/// A sound or a vibration: channels of one length at a sample rate.
public struct Signal: Equatable, Sendable {
  /// The samples of each channel, usually in −1…1; all of one length.
  public let channels: [[Float]]
  /// Frames per second.
  public let rate: Double

  /// Makes a signal; channels that are shorter than the longest end in silence.
  public init(channels: [[Float]], rate: Double) {
    precondition(rate > 0, "a signal needs a positive rate")
    let length = channels.map { $0.count }.max() ?? 0
    self.channels = channels.map {
      $0.count == length ? $0 : $0 + [Float](repeating: 0, count: length - $0.count)
    }
    self.rate = rate
  }

  /// Makes a signal of one channel.
  public init(_ samples: [Float], rate: Double) { self.init(channels: [samples], rate: rate) }

  /// Makes a signal from interleaved samples; a frame that is not whole is left out.
  public init(interleaved samples: [Float], channelCount: Int, rate: Double) {
    precondition(channelCount > 0, "a signal needs a channel")
    let length = samples.count / channelCount
    let channels = (0..<channelCount).map { channel in
      (0..<length).map { samples[$0 * channelCount + channel] }
    }
    self.init(channels: channels, rate: rate)
  }

  /// Frames in the signal.
  public var frameCount: Int { channels.first?.count ?? 0 }
  /// Seconds from the first frame to the end of the last.
  public var duration: Double { Double(frameCount) / rate }

  /// The samples frame by frame, as files hold them.
  public var interleaved: [Float] {
    guard channels.count > 1 else { return channels.first ?? [] }
    var samples: [Float] = []
    samples.reserveCapacity(frameCount * channels.count)
    for frame in 0..<frameCount {
      for channel in channels {
        samples.append(channel[frame])
      }
    }
    return samples
  }

  /// The mean of the channels: what is drawn and compared where one curve stands for all.
  public var mono: [Float] {
    guard let first = channels.first, channels.count > 1 else { return channels.first ?? [] }
    let share = 1 / Float(channels.count)
    return first.indices.map { frame in channels.reduce(0) { $0 + $1[frame] } * share }
  }
}

/// Samples that are not finite or far beyond full scale.
enum NonFiniteSamples {
  /// The greatest magnitude that is taken for a sample: 240 dB above full scale.
  static let maximumMagnitude = Float(1e12)

  /// The samples with silence for those that are infinite, undefined or beyond the limit.
  static func replaced(in samples: [Float]) -> [Float] {
    guard !areAllValid(samples.span) else { return samples }
    return samples.map { isValid($0) ? $0 : 0 }
  }

  /// Whether one sample counts; no comparison holds for a sample that is undefined.
  static func isValid(_ sample: Float) -> Bool { abs(sample) <= maximumMagnitude }

  static func areAllValid(_ samples: Span<Float>) -> Bool {
    for index in samples.indices where !isValid(samples[index]) { return false }
    return true
  }
}

/// Why a signal cannot be measured.
public struct AnalysisError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What can be done about it.
  public enum Kind: String, Sendable {
    /// The rate is outside of what is measured: resample.
    case unsupportedRate
    /// There are too many channels, or none: measure some of them.
    case unsupportedChannelCount
    /// The signal is too long: take a part of it.
    case unsupportedLength
    /// The profile cannot be rendered: choose another.
    case unsupportedProfile
  }

  /// What can be done about it.
  public var kind: Kind
  /// One line for the user, without the name of what is measured.
  public var description: String

  /// Makes an error.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}

/// Levels of amplitudes and powers.
public enum Decibels {
  /// What silence is given instead of negative infinity.
  public static let silence = -200.0

  /// The factor on amplitudes that decibels stand for: 10^(decibels / 20).
  public static func factor(_ decibels: Double) -> Double { pow(10, decibels / 20) }

  /// 20 · log10 of an amplitude, at least −200.
  public static func of(amplitude: Double) -> Double {
    amplitude > 1e-10 ? 20 * log10(amplitude) : silence
  }

  /// 10 · log10 of a power, at least −200.
  public static func of(power: Double) -> Double { power > 1e-20 ? 10 * log10(power) : silence }
}
