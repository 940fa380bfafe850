extension Difference {
  /// What differs; the raw value is its name in JSON.
  public enum Kind: String, CaseIterable, Sendable {
    /// How strong something is.
    case level
    /// When something begins.
    case time
    /// How fast the whole goes.
    case tempo
    /// How high or sharp something is.
    case frequency
    /// How long something lasts.
    case duration
    /// How fast something rises.
    case attack
    /// How fast something that is not sustained falls.
    case decay
    /// How long something rings behind its end.
    case release
    /// Whether something holds or decays.
    case sustain
    /// Left or right.
    case pan
    /// The upper partials of a tone or sound.
    case brightness
    /// Which sound file an event plays, and how.
    case waveform
    /// Something of the reference is not there.
    case missing
    /// Something is there that the reference has not.
    case added
    /// The same events in another order.
    case order
    /// A dynamic parameter of the pattern.
    case parameter
    /// A parameter curve of the pattern.
    case curve
    /// The share of low and high frequencies.
    case spectrum
    /// Noise or hum below what is alike.
    case noise
    /// A constant offset of the samples.
    case offset
    /// Peaks that were cut off.
    case clipping
    /// Whether the signal is turned upside down.
    case polarity
    /// How many channels there are, or what only some of them carry.
    case channels
    /// The length of the recording, silence included.
    case length
  }

  /// What an amount counts; the raw value is how it is written.
  public enum Unit: String, CaseIterable, Sendable {
    /// Ratio of two amplitudes.
    case decibels = "dB"
    /// Amplitude relative to full scale.
    case fullScale = "dBFS"
    /// Time.
    case seconds = "s"
    /// Share of the reference's value.
    case percent = "%"
    /// Whole things: channels, samples.
    case count
    /// There is nothing to count.
    case none
  }
}
