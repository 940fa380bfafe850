internal import CMath

/// A sound or a vibration: channels of equal length at a sample rate.
public struct Signal: Equatable, Sendable {
  /// The samples of each channel, usually in −1…1; all of equal length.
  public let channels: [[Float]]
  /// The sample rate, in hertz.
  public let rate: Double

  /// Creates a signal. Shorter channels are padded with silence.
  public init(channels: [[Float]], rate: Double) {
    precondition(rate > 0, "a signal needs a positive rate")
    let maximumChannelFrameCount = channels.map { $0.count }.max() ?? 0
    self.channels = channels.map {
      $0.count == maximumChannelFrameCount
        ? $0 : $0 + [Float](repeating: 0, count: maximumChannelFrameCount - $0.count)
    }
    self.rate = rate
  }

  /// Creates a signal of one channel.
  public init(_ samples: [Float], rate: Double) { self.init(channels: [samples], rate: rate) }

  /// Creates a signal from interleaved samples. An incomplete last frame is dropped.
  public init(interleaved samples: [Float], channelCount: Int, rate: Double) {
    precondition(channelCount > 0, "a signal needs a channel")
    let channelFrameCount = samples.count / channelCount
    let channels = (0..<channelCount).map { channel in
      (0..<channelFrameCount).map { samples[$0 * channelCount + channel] }
    }
    self.init(channels: channels, rate: rate)
  }

  /// The number of frames in each channel of the signal.
  public var frameCount: Int { channels.first?.count ?? 0 }
  /// The duration of the signal, in seconds.
  public var durationSeconds: Double { Double(frameCount) / rate }

  /// The interleaved samples: frame by frame, as in sound files.
  public var interleaved: [Float] {
    guard channels.count > 1 else { return channels.first ?? [] }
    var interleavedSamples: [Float] = []
    interleavedSamples.reserveCapacity(frameCount * channels.count)
    for frame in 0..<frameCount {
      for channel in channels {
        interleavedSamples.append(channel[frame])
      }
    }
    return interleavedSamples
  }

  /// The minimum noticeable difference of a channel from the mean of the channels: −40 dB.
  ///
  /// The level of the difference is relative to the loudest channel.
  private static let minimumDifferenceToLoudestRatio = 0.01

  /// A Boolean value that indicates whether any channel differs noticeably from the mean.
  ///
  /// The mean is that of all channels.
  public var hasDifferingChannels: Bool {
    guard channels.count > 1 else { return false }
    let meanChannel = mono
    var maximumChannelEnergy = 0.0
    var maximumDifferenceEnergy = 0.0
    for channel in channels {
      var energy = 0.0
      var difference = 0.0
      for (sample, meanSample) in zip(channel, meanChannel)
      where NonFiniteSamples.isValid(sample) && NonFiniteSamples.isValid(meanSample) {
        let deviation = Double(sample - meanSample)
        energy += Double(sample) * Double(sample)
        difference += deviation * deviation
      }
      maximumChannelEnergy = max(maximumChannelEnergy, energy)
      maximumDifferenceEnergy = max(maximumDifferenceEnergy, difference)
    }
    return maximumDifferenceEnergy > maximumChannelEnergy * Self.minimumDifferenceToLoudestRatio
      * Self.minimumDifferenceToLoudestRatio
  }

  /// The mean of the channels, for plots and comparisons that require a single channel.
  public var mono: [Float] {
    guard let firstChannel = channels.first, channels.count > 1 else { return channels.first ?? [] }
    let channelWeight = 1 / Float(channels.count)
    return firstChannel.indices.map { frame in channels.reduce(0) { $0 + $1[frame] } * channelWeight
    }
  }
}

/// Handling of samples that are not finite or far beyond full scale.
enum NonFiniteSamples {
  /// The maximum magnitude of a valid sample: 240 dB above full scale.
  static let maximumValidMagnitude = Float(1e12)

  /// Returns the samples with 0 in place of samples that are infinite, NaN, or beyond the maximum.
  static func zeroingInvalidSamples(in samples: [Float]) -> [Float] {
    guard !areAllValid(samples.span) else { return samples }
    return samples.map { isValid($0) ? $0 : 0 }
  }

  /// Returns true if a sample is valid. The comparison is false for NaN.
  static func isValid(_ sample: Float) -> Bool { abs(sample) <= maximumValidMagnitude }

  static func areAllValid(_ samples: Span<Float>) -> Bool {
    for index in samples.indices where !isValid(samples[index]) { return false }
    return true
  }
}

/// The reason why a signal cannot be measured.
public struct AnalysisError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of an error, which determines the remedy.
  public enum Kind: String, Sendable {
    /// The sample rate is out of range. Resample the signal.
    case unsupportedRate
    /// The signal has no channels or too many. Measure fewer channels.
    case unsupportedChannelCount
    /// The signal is too long. Measure an excerpt.
    case unsupportedLength
    /// The profile cannot be rendered. Choose a different profile.
    case unsupportedProfile
  }

  /// The kind of the error, which determines the remedy.
  public var kind: Kind
  /// A one-line message for the user, without the name of the signal.
  public var description: String

  /// Creates an error of a kind, with a one-line message.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}

/// Conversions between decibels, amplitudes, and powers.
public enum Decibels {
  /// The level of silence in decibels, which is used instead of negative infinity.
  public static let silenceDecibels = -200.0

  /// Returns the amplitude factor of a level in decibels: 10^(decibels / 20).
  public static func amplitudeFactor(_ decibels: Double) -> Double { pow(10, decibels / 20) }

  /// Returns the level of an amplitude, 20 · log10, at least −200.
  public static func of(amplitude: Double) -> Double {
    amplitude > 1e-10 ? 20 * log10(amplitude) : silenceDecibels
  }

  /// Returns the level of a power, 10 · log10, at least −200.
  public static func of(power: Double) -> Double {
    power > 1e-20 ? 10 * log10(power) : silenceDecibels
  }
}
